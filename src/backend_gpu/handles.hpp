#pragma once

#include <memory>
#include <type_traits>

#include "backend_gpu/runtime.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::gpu {

/// Gives a handle back through its library's own function; a destructor has nobody to report an error to and drops it.
template <class Handle>
struct Release {
  int (*function)(Handle handle) = nullptr;
  void operator()(Handle handle) const { static_cast<void>(function(handle)); }
};

// Owners. What they own is seen through get().
using Stream = std::unique_ptr<std::remove_pointer_t<StreamHandle>, Release<StreamHandle>>;
using Event = std::unique_ptr<std::remove_pointer_t<EventHandle>, Release<EventHandle>>;
using Memory = std::unique_ptr<void, Release<void*>>;

inline constexpr int kNormalPriority = 0;  ///< what a stream has by default

/// All of these act on the current device.
/// The numerically smallest value that a stream's priority can have.
Result<int> greatest_priority(const Runtime& runtime);
Result<Stream> make_stream(const Runtime& runtime, int priority);
enum class EventUse { ordering, timing };
Result<Event> make_event(const Runtime& runtime, EventUse use);
Result<Memory> allocate(const Runtime& runtime, Bytes size);
/// Host memory that every device can read and write at the same address.
Result<Memory> allocate_pinned(const Runtime& runtime, Bytes size);

}  // namespace elbowroom::gpu
