#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "runtime.hpp"

// Streams and events. `_spt` forms are written down under their own name.

using namespace fake_hip;

namespace {

std::size_t streams_made = 0;

int synchronize(const char* name, hip::Stream stream, bool per_thread) {
  FakeHipCall call = named(name);
  call.stream = stream;
  return make_call(call, [&] {
    Stream* known = stream_of(stream, per_thread);
    return known == nullptr ? hip::kErrorInvalidHandle : finish_stream(*known);
  });
}

int query_stream(const char* name, hip::Stream stream, bool per_thread) {
  FakeHipCall call = named(name);
  call.stream = stream;
  return make_call(call, [&] {
    if (breaks_capture()) { return hip::kErrorCaptureUnsupported; }
    const Stream* known = stream_of(stream, per_thread);
    if (known == nullptr) { return hip::kErrorInvalidHandle; }
    pump();
    if (!everything_finished() || !is_idle(*known)) { return hip::kErrorNotReady; }
    host_knows(end_of(*known));
    return 0;
  });
}

int record(const char* name, hip::Event event, hip::Stream stream, unsigned flags, bool per_thread) {
  FakeHipCall call = named(name);
  call.event = event;
  call.stream = stream;
  call.flags = flags;
  auto* known = object<Event>(event);
  const auto body = [&] {
    Stream* on = stream_of(stream, per_thread);
    if (on == nullptr || known == nullptr || !known->alive) { return hip::kErrorInvalidHandle; }
    if (on->capture != nullptr && (flags & hip::kEventExternal) != 0) {
      auto* node = new Node;
      node->type = hip::kGraphNodeEventRecord;
      enqueue(*on, {}, node);
      return 0;
    }
    known->capture = on->capture;
    known->stream = on;
    if (on->capture != nullptr) { return 0; }
    known->latest = std::make_shared<Completion>();
    Operation operation;
    operation.run = [completion = known->latest](std::uint64_t, std::uint64_t end) { *completion = {true, end}; };
    enqueue(*on, std::move(operation));
    return 0;
  };
  return known != nullptr && known->of_interposer ? question(name, body) : make_call(call, body);
}

int wait(const char* name, hip::Stream stream, hip::Event event, unsigned flags, bool per_thread) {
  FakeHipCall call = named(name);
  call.event = event;
  call.stream = stream;
  call.flags = flags;
  return make_call(call, [&] {
    Stream* on = stream_of(stream, per_thread);
    const auto* known = object<Event>(event);
    if (on == nullptr || known == nullptr || !known->alive) { return hip::kErrorInvalidHandle; }
    if (known->capture != nullptr && !known->capture->ended) {
      join_capture(*on, known->capture);
      return 0;
    }
    if (known->latest == nullptr || on->capture != nullptr) { return 0; }
    Operation operation;
    operation.can_run = [completion = known->latest] { return completion->done; };
    operation.not_before = [completion = known->latest] { return completion->time_ns; };
    enqueue(*on, std::move(operation));
    return 0;
  });
}

int create_stream(const char* name, hip::Stream* stream, unsigned flags, int priority, const std::uint32_t* mask, unsigned words) {
  FakeHipCall call = named(name);
  call.flags = flags;
  call.priority = priority;
  std::copy_n(mask, std::min(words, kFakeMaskWords), call.cu_mask);
  return make_call(call, [&] {
    if (stream == nullptr) { return hip::kErrorInvalidValue; }
    if (settings().devices == 0) { return hip::kErrorNoDevice; }
    auto* made = make_object<Stream>();
    made->device = current_device();
    made->flags = flags;
    made->priority = settings().no_priorities ? 0 : std::clamp(priority, kGreatestPriority, kLeastPriority);
    made->mask.assign(mask, mask + words);
    ++streams_made;
    *stream = made->handle();
    return 0;
  });
}

template <class Read>
int ask_stream(const char* name, hip::Stream stream, Read&& read) {
  return question(name, [&] {
    const Stream* known = stream_of(stream, false);
    if (known == nullptr) { return hip::kErrorInvalidHandle; }
    read(*known);
    return 0;
  });
}

}  // namespace

std::size_t fake_hip_streams() {
  const std::lock_guard lock(runtime_mutex());
  return streams_made;
}

#pragma GCC visibility push(default)
extern "C" {

int hipStreamCreate(hip::Stream* stream) { return create_stream("hipStreamCreate", stream, 0, 0, nullptr, 0); }
int hipStreamCreateWithFlags(hip::Stream* stream, unsigned flags) {
  return create_stream("hipStreamCreateWithFlags", stream, flags, 0, nullptr, 0);
}
int hipStreamCreateWithPriority(hip::Stream* stream, unsigned flags, int priority) {
  return create_stream("hipStreamCreateWithPriority", stream, flags, priority, nullptr, 0);
}
int hipExtStreamCreateWithCUMask(hip::Stream* stream, std::uint32_t words, const std::uint32_t* mask) {
  if (words == 0 || mask == nullptr) { return leave(hip::kErrorInvalidValue); }
  return create_stream("hipExtStreamCreateWithCUMask", stream, 0, 0, mask, words);
}
/// All contexts have the device's eight lowest units.
int hipExecutionCtxStreamCreate(hip::Stream* stream, hip::ExecutionContext /*context*/, unsigned flags, int priority) {
  const std::uint32_t mask = 0xff;
  return create_stream("hipExecutionCtxStreamCreate", stream, flags, priority, &mask, 1);
}
int hipExtStreamGetCUMask(hip::Stream stream, std::uint32_t words, std::uint32_t* mask) {
  return ask_stream("hipExtStreamGetCUMask", stream, [&](const Stream& known) {
    for (std::uint32_t i = 0; i < words; ++i) { mask[i] = i < known.mask.size() ? known.mask[i] : 0; }
  });
}
int hipStreamDestroy(hip::Stream stream) {
  FakeHipCall call = named("hipStreamDestroy");
  call.stream = stream;
  return make_call(call, [&] {
    Stream* known = object<Stream>(stream);
    if (known == nullptr || !known->alive) { return hip::kErrorInvalidHandle; }
    join_capture(*known, nullptr);
    known->alive = false;  // the object stays: old handles are still looked at
    --streams_made;
    pump();
    return 0;
  });
}
int hipStreamGetFlags(hip::Stream stream, unsigned* flags) {
  return ask_stream("hipStreamGetFlags", stream, [&](const Stream& known) { *flags = known.flags; });
}
int hipStreamGetPriority(hip::Stream stream, int* priority) {
  return ask_stream("hipStreamGetPriority", stream, [&](const Stream& known) { *priority = known.priority; });
}
int hipStreamGetDevice(hip::Stream stream, int* device) {
  return ask_stream("hipStreamGetDevice", stream, [&](const Stream& known) { *device = known.device; });
}
int hipGetStreamDeviceId(hip::Stream stream) {
  const std::lock_guard lock(runtime_mutex());
  const Stream* known = stream_of(stream, false);
  return known == nullptr ? -1 : known->device;
}
int hipStreamSynchronize(hip::Stream stream) { return synchronize("hipStreamSynchronize", stream, false); }
int hipStreamSynchronize_spt(hip::Stream stream) { return synchronize("hipStreamSynchronize_spt", stream, kPerThread); }
int hipStreamQuery(hip::Stream stream) { return query_stream("hipStreamQuery", stream, false); }
int hipStreamQuery_spt(hip::Stream stream) { return query_stream("hipStreamQuery_spt", stream, kPerThread); }
int hipStreamWaitEvent(hip::Stream stream, hip::Event event, unsigned flags) {
  return wait("hipStreamWaitEvent", stream, event, flags, false);
}
int hipStreamWaitEvent_spt(hip::Stream stream, hip::Event event, unsigned flags) {
  return wait("hipStreamWaitEvent_spt", stream, event, flags, kPerThread);
}

int hipEventCreateWithFlags(hip::Event* event, unsigned flags) {
  Dl_info caller{};
  const bool known = dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != nullptr;
  const bool of_interposer = known && std::strstr(caller.dli_fname, "libelbowroom_interposer") != nullptr;
  return question("hipEventCreateWithFlags", [&] {
    auto* made = make_object<Event>();
    made->flags = flags;
    made->of_interposer = of_interposer && flags == 0;  // those of carriers have no time
    *event = reinterpret_cast<hip::Event>(made);
    return 0;
  });
}
int hipEventCreate(hip::Event* event) { return hipEventCreateWithFlags(event, 0); }
int hipEventDestroy(hip::Event event) {
  return question("hipEventDestroy", [&] {
    auto* known = object<Event>(event);
    if (known == nullptr || !known->alive) { return hip::kErrorInvalidHandle; }
    known->alive = false;
    return 0;
  });
}
int hipEventRecord(hip::Event event, hip::Stream stream) { return record("hipEventRecord", event, stream, 0, false); }
int hipEventRecord_spt(hip::Event event, hip::Stream stream) { return record("hipEventRecord_spt", event, stream, 0, kPerThread); }
int hipEventRecordWithFlags(hip::Event event, hip::Stream stream, unsigned flags) {
  return record("hipEventRecordWithFlags", event, stream, flags, false);
}
int hipEventQuery(hip::Event event) {
  FakeHipCall call = named("hipEventQuery");
  call.event = event;
  return make_call(call, [&] {
    const auto* known = object<Event>(event);
    if (known != nullptr && breaks_capture(*known)) { return hip::kErrorCapturedEvent; }
    if (breaks_capture()) { return hip::kErrorCaptureUnsupported; }
    if (known == nullptr || !known->alive) { return hip::kErrorInvalidHandle; }
    pump();
    if (known->latest == nullptr) { return everything_finished() ? 0 : hip::kErrorNotReady; }
    if (!everything_finished() || !known->latest->done) { return hip::kErrorNotReady; }
    host_knows(known->latest->time_ns);
    return 0;
  });
}
int hipEventSynchronize(hip::Event event) {
  FakeHipCall call = named("hipEventSynchronize");
  call.event = event;
  return make_call(call, [&] {
    const auto* known = object<Event>(event);
    if (known == nullptr || !known->alive) { return hip::kErrorInvalidHandle; }
    if (breaks_capture(*known)) { return hip::kErrorCapturedEvent; }
    const std::shared_ptr<Completion> latest = known->latest;
    if (latest == nullptr) { return 0; }
    if (!run_until([&] { return latest->done; })) { return 719; }
    host_knows(latest->time_ns);
    return 0;
  });
}
int hipEventElapsedTime(float* milliseconds, hip::Event begin, hip::Event end) {
  return question("hipEventElapsedTime", [&] {
    const auto* first = object<Event>(begin);
    const auto* last = object<Event>(end);
    if (first == nullptr || last == nullptr || first->latest == nullptr || last->latest == nullptr) {
      return hip::kErrorInvalidHandle;
    }
    pump();
    if (!everything_finished() || !first->latest->done || !last->latest->done) { return hip::kErrorNotReady; }
    *milliseconds =
        static_cast<float>((static_cast<double>(last->latest->time_ns) - static_cast<double>(first->latest->time_ns)) / 1e6);
    return 0;
  });
}

}  // extern "C"
#pragma GCC visibility pop
