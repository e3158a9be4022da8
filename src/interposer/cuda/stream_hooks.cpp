#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"

// Streams and events: what the program orders by itself. Facts are told once the driver has accepted the call.

namespace elbowroom::interposer::cuda {
namespace {

constexpr DefaultStream kLegacy = DefaultStream::kLegacy;
constexpr DefaultStream kPerThread = DefaultStream::kPerThread;

void tell_created(int result, const cu::Stream* stream, unsigned flags) {
  Interposer* state = interposer();
  if (state == nullptr || result != cu::kSuccess || stream == nullptr || *stream == nullptr) { return; }
  const cu::Context context = state->contexts.of(*stream);
  const int device = state->contexts.device(context);
  if (device < 0) { return; }  // the core asks for the stream when it meets it
  state->core->on_stream_create(id_of(*stream), {id_of(context), device, (flags & cu::kStreamNonBlocking) == 0});
}

template <auto Ours>
int destroy_stream(cu::Stream stream) {
  if (Interposer* state = interposer()) { state->core->on_stream_destroy(id_of(stream)); }
  return call_real<Ours>(stream);
}

template <auto Ours>
int destroy_event(cu::Event event) {
  if (Interposer* state = interposer()) {
    state->foreign_events.remove(event);
    state->core->on_event_destroy(id_of(event));
  }
  return call_real<Ours>(event);
}

template <auto Ours>
int wait_event(cu::Stream stream, cu::Event event, unsigned flags, DefaultStream default_stream) {
  const int result = call_real<Ours>(stream, event, flags);
  Interposer* state = interposer();
  if (state == nullptr || result != cu::kSuccess) { return result; }
  const StreamId id = state->stream_id(stream, default_stream);
  const bool external = (flags & cu::kEventExternal) != 0 && state->core->capturing();
  if (external || state->foreign_events.contains(event)) {
    state->core->on_host_dependency(id);
  } else {
    state->core->on_stream_wait(id, id_of(event));
  }
  return result;
}

// All that follows in a context waits. An order that is not known only ever adds windows; what another process may record must be known, and
// stands for the whole context on its legacy default stream, which is the one that a synchronisation of the context finishes as well.
void tell_context_waits(int result, cu::Context context, cu::Event event) {
  Interposer* state = interposer();
  if (state == nullptr || result != cu::kSuccess || !state->foreign_events.contains(event)) { return; }
  state->core->on_host_dependency(legacy_stream(id_of(context == nullptr ? state->contexts.current() : context)));
}

void tell_recorded(int result, cu::Event event, cu::Stream stream, DefaultStream default_stream, unsigned flags = 0) {
  Interposer* state = interposer();
  if (state == nullptr || result != cu::kSuccess) { return; }
  // Captured as a node that records when the graph runs: nothing is recorded now.
  if ((flags & cu::kEventExternal) != 0 && state->core->capturing()) { return; }
  state->core->on_event_record(id_of(event), state->stream_id(stream, default_stream));
}

// The point is taken before the call, because other threads may go on meanwhile.
template <auto Ours>
int finish_stream(cu::Stream stream, DefaultStream default_stream) {
  Interposer* state = interposer();
  if (state == nullptr) { return call_real<Ours>(stream); }
  const SyncPoint point = state->core->stream_point(state->stream_id(stream, default_stream));
  const int result = call_real<Ours>(stream);
  if (result == cu::kSuccess) { state->core->on_synchronized(point, now_ns()); }
  return result;
}

template <auto Ours>
int finish_event(cu::Event event) {
  Interposer* state = interposer();
  if (state == nullptr) { return call_real<Ours>(event); }
  const SyncPoint point = state->core->event_point(id_of(event));
  const int result = call_real<Ours>(event);
  if (result == cu::kSuccess) { state->core->on_synchronized(point, now_ns()); }
  return result;
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cuStreamCreate(cu::Stream* stream, unsigned flags) {
  const int result = call_real<&cuStreamCreate>(stream, flags);
  tell_created(result, stream, flags);
  return result;
}

int cuStreamCreateWithPriority(cu::Stream* stream, unsigned flags, int priority) {
  const int result = call_real<&cuStreamCreateWithPriority>(stream, flags, priority);
  tell_created(result, stream, flags);
  return result;
}

int cuGreenCtxStreamCreate(cu::Stream* stream, cu::GreenContext context, unsigned flags, int priority) {
  const int result = call_real<&cuGreenCtxStreamCreate>(stream, context, flags, priority);
  tell_created(result, stream, flags);
  return result;
}

int cuStreamDestroy(cu::Stream stream) { return destroy_stream<&cuStreamDestroy>(stream); }
int cuStreamDestroy_v2(cu::Stream stream) { return destroy_stream<&cuStreamDestroy_v2>(stream); }

int cuStreamWaitEvent(cu::Stream stream, cu::Event event, unsigned flags) {
  return wait_event<&cuStreamWaitEvent>(stream, event, flags, kLegacy);
}
int cuStreamWaitEvent_ptsz(cu::Stream stream, cu::Event event, unsigned flags) {
  return wait_event<&cuStreamWaitEvent_ptsz>(stream, event, flags, kPerThread);
}

int cuStreamSynchronize(cu::Stream stream) { return finish_stream<&cuStreamSynchronize>(stream, kLegacy); }
int cuStreamSynchronize_ptsz(cu::Stream stream) { return finish_stream<&cuStreamSynchronize_ptsz>(stream, kPerThread); }
int cuStreamQuery(cu::Stream stream) { return finish_stream<&cuStreamQuery>(stream, kLegacy); }
int cuStreamQuery_ptsz(cu::Stream stream) { return finish_stream<&cuStreamQuery_ptsz>(stream, kPerThread); }

int cuEventRecord(cu::Event event, cu::Stream stream) {
  const int result = call_real<&cuEventRecord>(event, stream);
  tell_recorded(result, event, stream, kLegacy);
  return result;
}

int cuEventRecord_ptsz(cu::Event event, cu::Stream stream) {
  const int result = call_real<&cuEventRecord_ptsz>(event, stream);
  tell_recorded(result, event, stream, kPerThread);
  return result;
}

int cuEventRecordWithFlags(cu::Event event, cu::Stream stream, unsigned flags) {
  const int result = call_real<&cuEventRecordWithFlags>(event, stream, flags);
  tell_recorded(result, event, stream, kLegacy, flags);
  return result;
}

int cuEventRecordWithFlags_ptsz(cu::Event event, cu::Stream stream, unsigned flags) {
  const int result = call_real<&cuEventRecordWithFlags_ptsz>(event, stream, flags);
  tell_recorded(result, event, stream, kPerThread, flags);
  return result;
}

// From now on another process may record it.
int cuIpcGetEventHandle(cu::IpcEventHandle* handle, cu::Event event) {
  const int result = call_real<&cuIpcGetEventHandle>(handle, event);
  Interposer* state = interposer();
  if (state != nullptr && result == cu::kSuccess) { state->foreign_events.add(event); }
  return result;
}

int cuCtxWaitEvent(cu::Context context, cu::Event event) {
  const int result = call_real<&cuCtxWaitEvent>(context, event);
  tell_context_waits(result, context, event);
  return result;
}
int cuGreenCtxWaitEvent(cu::GreenContext context, cu::Event event) {
  const int result = call_real<&cuGreenCtxWaitEvent>(context, event);
  tell_context_waits(result, nullptr, event);
  return result;
}

int cuIpcOpenEventHandle(cu::Event* event, cu::IpcEventHandle handle) {
  const int result = call_real<&cuIpcOpenEventHandle>(event, handle);
  Interposer* state = interposer();
  if (state != nullptr && result == cu::kSuccess && event != nullptr) { state->foreign_events.add(*event); }
  return result;
}

int cuEventQuery(cu::Event event) { return finish_event<&cuEventQuery>(event); }
int cuEventSynchronize(cu::Event event) { return finish_event<&cuEventSynchronize>(event); }
int cuEventDestroy(cu::Event event) { return destroy_event<&cuEventDestroy>(event); }
int cuEventDestroy_v2(cu::Event event) { return destroy_event<&cuEventDestroy_v2>(event); }
