#include "backend_hip/handles.hpp"

#include <fmt/format.h>

namespace elbowroom::hip {

Result<int> greatest_priority(const HipLibrary& hip) {
  int least = 0;
  int greatest = 0;
  if (Status asked =
          hip.check(hip.functions.device_get_stream_priority_range(&least, &greatest), "hipDeviceGetStreamPriorityRange");
      !asked) {
    return asked.error();
  }
  return greatest;
}

Result<Stream> make_stream(const HipLibrary& hip, int priority) {
  HipStream stream = nullptr;
  if (Status made = hip.check(hip.functions.stream_create_with_priority(&stream, kHipStreamNonBlocking, priority),
                              "hipStreamCreateWithPriority");
      !made) {
    return made.error();
  }
  return Stream(stream, {hip.functions.stream_destroy});
}

Result<Event> make_event(const HipLibrary& hip, EventUse use) {
  HipEvent event = nullptr;
  const unsigned flags = use == EventUse::timing ? kHipEventDefault : kHipEventDisableTiming;
  if (Status made = hip.check(hip.functions.event_create_with_flags(&event, flags), "hipEventCreateWithFlags"); !made) {
    return made.error();
  }
  return Event(event, {hip.functions.event_destroy});
}

Result<Memory> allocate(const HipLibrary& hip, Bytes size) {
  void* memory = nullptr;
  const int code = hip.functions.malloc(&memory, static_cast<std::size_t>(size.count()));
  if (code == kHipErrorOutOfMemory) {
    static_cast<void>(hip.functions.get_last_error());  // it would be reported again by a later call
    return failed(
        fmt::format("out of device memory: {:.2f} GiB more were asked for", static_cast<double>(size.count()) / (1 << 30)));
  }
  if (Status made = hip.check(code, "hipMalloc"); !made) return made.error();
  return Memory(memory, {hip.functions.free});
}

Result<Memory> allocate_pinned(const HipLibrary& hip, Bytes size) {
  void* memory = nullptr;
  const int code =
      hip.functions.host_malloc(&memory, static_cast<std::size_t>(size.count()), kHipHostMallocPortable | kHipHostMallocMapped);
  if (Status made = hip.check(code, "hipHostMalloc"); !made) return made.error();
  return Memory(memory, {hip.functions.host_free});
}

}  // namespace elbowroom::hip
