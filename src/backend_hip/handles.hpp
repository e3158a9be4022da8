#pragma once

#include <memory>
#include <type_traits>

#include "backend_hip/hip_library.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

namespace detail {
/// Gives a handle back through the runtime's own function; a destructor has nobody to report an error to and drops it.
template <class Handle>
struct Release {
  int (*function)(Handle handle) = nullptr;
  void operator()(Handle handle) const { static_cast<void>(function(handle)); }
};
}  // namespace detail

// Owners. What they own is seen through get(); the runtime that made it outlives them.
using Stream = std::unique_ptr<std::remove_pointer_t<HipStream>, detail::Release<HipStream>>;
using Event = std::unique_ptr<std::remove_pointer_t<HipEvent>, detail::Release<HipEvent>>;
using Module = std::unique_ptr<std::remove_pointer_t<HipModule>, detail::Release<HipModule>>;
using Memory = std::unique_ptr<void, detail::Release<void*>>;

inline constexpr int kNormalPriority = 0;  ///< what a stream has by default

/// All of these act on the current device.
/// The numerically smallest value that a stream's priority can have.
Result<int> greatest_priority(const HipLibrary& hip);
Result<Stream> make_stream(const HipLibrary& hip, int priority);
enum class EventUse { ordering, timing };
Result<Event> make_event(const HipLibrary& hip, EventUse use);
Result<Memory> allocate(const HipLibrary& hip, Bytes size);
/// Host memory that every device can read and write at the same address.
Result<Memory> allocate_pinned(const HipLibrary& hip, Bytes size);

}  // namespace elbowroom::hip
