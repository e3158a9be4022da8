#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"

// Streams and events: what the program orders by itself. Facts are told once the runtime has accepted the call.

namespace elbowroom::interposer::hip {
namespace {

constexpr DefaultStream kLegacy = DefaultStream::kLegacy;
constexpr DefaultStream kPerThread = DefaultStream::kPerThread;

void tell_created(int result, const hip::Stream* stream, unsigned flags, bool masked) {
  Interposer* state = interposer();
  if (state == nullptr || result != hip::kSuccess || stream == nullptr || *stream == nullptr) { return; }
  const StreamId id = id_of(*stream);
  state->carriers.remove(id);
  if (masked) { state->carriers.refuse(id); }
  const int device = state->current_device();
  if (device < 0) { return; }  // the core asks for the stream when it meets it
  state->devices.fetch_or(std::uint64_t{1} << (static_cast<unsigned>(device) % 64U), std::memory_order_relaxed);
  state->core->on_stream_create(id, {context_of_device(device), device, (flags & hip::kStreamNonBlocking) == 0});
}

template <auto Ours>
int wait_event(hip::Stream stream, hip::Event event, unsigned flags, DefaultStream default_stream) {
  const int result = call_real<Ours>(stream, event, flags);
  Interposer* state = interposer();
  if (state == nullptr || result != hip::kSuccess) { return result; }
  const StreamId id = state->stream_id(stream, default_stream);
  const bool external = (flags & hip::kEventExternal) != 0 && state->core->capturing();
  if (external || state->foreign_events.contains(event)) {
    state->core->on_host_dependency(id);
  } else {
    state->core->on_stream_wait(id, id_of(event));
  }
  return result;
}

void tell_recorded(int result, hip::Event event, hip::Stream stream, DefaultStream default_stream, unsigned flags = 0) {
  Interposer* state = interposer();
  if (state == nullptr || result != hip::kSuccess) { return; }
  // Captured as a node that records when the graph runs: nothing is recorded now.
  if ((flags & hip::kEventExternal) != 0 && state->core->capturing()) { return; }
  state->core->on_event_record(id_of(event), state->stream_id(stream, default_stream));
}

// The point is taken before the call, because other threads may go on meanwhile.
template <auto Ours>
int finish_stream(hip::Stream stream, DefaultStream default_stream) {
  Interposer* state = interposer();
  if (state == nullptr) { return call_real<Ours>(stream); }
  const SyncPoint point = state->core->stream_point(state->stream_id(stream, default_stream));
  const int result = call_real<Ours>(stream);
  if (result == hip::kSuccess) { state->core->on_synchronized(point, now_ns()); }
  return result;
}

template <auto Ours>
int finish_event(hip::Event event) {
  Interposer* state = interposer();
  if (state == nullptr) { return call_real<Ours>(event); }
  const SyncPoint point = state->core->event_point(id_of(event));
  const int result = call_real<Ours>(event);
  if (result == hip::kSuccess) { state->core->on_synchronized(point, now_ns()); }
  return result;
}

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipStreamCreate(hip::Stream* stream) {
  const int result = call_real<&hipStreamCreate>(stream);
  tell_created(result, stream, 0, false);
  return result;
}

int hipStreamCreateWithFlags(hip::Stream* stream, unsigned flags) {
  const int result = call_real<&hipStreamCreateWithFlags>(stream, flags);
  tell_created(result, stream, flags, false);
  return result;
}

int hipStreamCreateWithPriority(hip::Stream* stream, unsigned flags, int priority) {
  const int result = call_real<&hipStreamCreateWithPriority>(stream, flags, priority);
  tell_created(result, stream, flags, false);
  return result;
}

int hipExtStreamCreateWithCUMask(hip::Stream* stream, std::uint32_t words, const std::uint32_t* mask) {
  const int result = call_real<&hipExtStreamCreateWithCUMask>(stream, words, mask);
  tell_created(result, stream, 0, true);
  return result;
}

// What its carrier still runs is joined to the stream, so that the runtime waits for both.
int hipStreamDestroy(hip::Stream stream) {
  Interposer* state = interposer();
  if (state != nullptr) { state->core->on_stream_destroy(id_of(stream)); }
  const int result = call_real<&hipStreamDestroy>(stream);
  if (state != nullptr && result == hip::kSuccess) { state->carriers.remove(id_of(stream)); }
  return result;
}

int hipStreamWaitEvent(hip::Stream stream, hip::Event event, unsigned flags) {
  return wait_event<&hipStreamWaitEvent>(stream, event, flags, kLegacy);
}
int hipStreamWaitEvent_spt(hip::Stream stream, hip::Event event, unsigned flags) {
  return wait_event<&hipStreamWaitEvent_spt>(stream, event, flags, kPerThread);
}

int hipStreamSynchronize(hip::Stream stream) { return finish_stream<&hipStreamSynchronize>(stream, kLegacy); }
int hipStreamSynchronize_spt(hip::Stream stream) { return finish_stream<&hipStreamSynchronize_spt>(stream, kPerThread); }
int hipStreamQuery(hip::Stream stream) { return finish_stream<&hipStreamQuery>(stream, kLegacy); }
int hipStreamQuery_spt(hip::Stream stream) { return finish_stream<&hipStreamQuery_spt>(stream, kPerThread); }

int hipEventRecord(hip::Event event, hip::Stream stream) {
  const int result = call_real<&hipEventRecord>(event, stream);
  tell_recorded(result, event, stream, kLegacy);
  return result;
}

int hipEventRecord_spt(hip::Event event, hip::Stream stream) {
  const int result = call_real<&hipEventRecord_spt>(event, stream);
  tell_recorded(result, event, stream, kPerThread);
  return result;
}

int hipEventRecordWithFlags(hip::Event event, hip::Stream stream, unsigned flags) {
  const int result = call_real<&hipEventRecordWithFlags>(event, stream, flags);
  tell_recorded(result, event, stream, kLegacy, flags);
  return result;
}

int hipIpcOpenEventHandle(hip::Event* event, hip::IpcEventHandle handle) {
  const int result = call_real<&hipIpcOpenEventHandle>(event, handle);
  Interposer* state = interposer();
  if (state != nullptr && result == hip::kSuccess && event != nullptr) { state->foreign_events.add(*event); }
  return result;
}

int hipEventQuery(hip::Event event) { return finish_event<&hipEventQuery>(event); }
int hipEventSynchronize(hip::Event event) { return finish_event<&hipEventSynchronize>(event); }

int hipEventDestroy(hip::Event event) {
  if (Interposer* state = interposer()) {
    state->foreign_events.remove(event);
    state->core->on_event_destroy(id_of(event));
  }
  return call_real<&hipEventDestroy>(event);
}
