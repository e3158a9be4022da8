#include "backend_gpu/handles.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "elbowroom/base/gibibytes.hpp"

namespace elbowroom::gpu {

Result<int> greatest_priority(const Runtime& runtime) {
  int least = 0;
  int greatest = 0;
  if (Status asked = runtime.call(runtime.calls.device_get_stream_priority_range, &least, &greatest); !asked) {
    return asked.error();
  }
  return greatest;
}

Result<Stream> make_stream(const Runtime& runtime, int priority) {
  StreamHandle stream = nullptr;
  const Status made = runtime.call(runtime.calls.stream_create_with_priority, &stream, kStreamNonBlocking, priority);
  if (!made) { return made.error(); }
  return Stream(stream, {runtime.calls.stream_destroy.function});
}

Result<Event> make_event(const Runtime& runtime, EventUse use) {
  EventHandle event = nullptr;
  const unsigned flags = use == EventUse::timing ? kEventDefault : kEventDisableTiming;
  if (Status made = runtime.call(runtime.calls.event_create_with_flags, &event, flags); !made) { return made.error(); }
  return Event(event, {runtime.calls.event_destroy.function});
}

Result<Memory> allocate(const Runtime& runtime, Bytes size) {
  void* memory = nullptr;
  const int code = runtime.calls.malloc.function(&memory, static_cast<std::size_t>(size.count()));
  if (code == kErrorOutOfMemory) {
    static_cast<void>(runtime.calls.get_last_error.function());  // it would be reported again by a later call
    return failed(fmt::format("out of device memory: {:.2f} GiB more were asked for", in_gibibytes(size)));
  }
  if (Status made = runtime.check(code, runtime.calls.malloc.name); !made) { return made.error(); }
  return Memory(memory, {runtime.calls.free.function});
}

Result<Memory> allocate_pinned(const Runtime& runtime, Bytes size) {
  void* memory = nullptr;
  const Status made =
      runtime.call(runtime.calls.host_malloc, &memory, static_cast<std::size_t>(size.count()), kHostPortable | kHostMapped);
  if (!made) { return made.error(); }
  return Memory(memory, {runtime.calls.host_free.function});
}

}  // namespace elbowroom::gpu
