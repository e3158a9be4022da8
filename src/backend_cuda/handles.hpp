#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// Turns a return code into a Status that names the call and what the runtime says of the code.
Status check(cudaError_t code, const char* call);

/// Makes `device` the calling thread's current one; cheap when it already is.
Status use_device(int device);

namespace detail {
struct StreamDeleter {
  void operator()(cudaStream_t stream) const { static_cast<void>(cudaStreamDestroy(stream)); }
};
struct EventDeleter {
  void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
};
struct DeviceMemoryDeleter {
  void operator()(void* memory) const { static_cast<void>(cudaFree(memory)); }
};
struct PinnedMemoryDeleter {
  void operator()(void* memory) const { static_cast<void>(cudaFreeHost(memory)); }
};
}  // namespace detail

// Owners. What they own is seen through get(); a destructor has nobody to report an error to and drops it.
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, detail::StreamDeleter>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, detail::EventDeleter>;
using DeviceMemory = std::unique_ptr<void, detail::DeviceMemoryDeleter>;
using PinnedMemory = std::unique_ptr<void, detail::PinnedMemoryDeleter>;

struct PriorityRange {
  int least = 0;     ///< what a stream has by default
  int greatest = 0;  ///< numerically the smallest
};

/// All of these act on the current device.
Result<PriorityRange> priority_range();
Result<Stream> make_stream(int priority);
enum class EventUse { ordering, timing };
Result<Event> make_event(EventUse use);
Result<DeviceMemory> allocate(Bytes size);
/// Host memory that every device can read and write at the same address.
Result<PinnedMemory> allocate_pinned(Bytes size);

}  // namespace elbowroom::cuda
