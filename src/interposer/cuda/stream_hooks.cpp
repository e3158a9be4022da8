#include "interposer/driver/stream_hooks.hpp"

#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"

// Streams and events: what the program orders by itself. Facts are told once the driver has accepted the call.

namespace elbowroom::interposer::cuda {
namespace {

using StreamHooks = driver::StreamHooks<Driver>;

cu::Context named_or_current(Interposer& state, cu::Context context) {
  return context == nullptr ? state.driver.current_place() : context;
}

// All that follows in a context waits, collectives and what may be gated on them alike. What another process may record must be
// known. No stream says when it is over, since none need have anything enqueued behind it.
template <class Call>
int context_waits(cu::Context context, cu::Event event, Call call) {
  Interposer* state = interposer();
  if (state == nullptr) { return call(); }
  if (state->foreign_events.contains(event)) {
    return driver::wait_for_host<Driver>(*state, whole_context(id_of(named_or_current(*state, context))), call);
  }
  const driver::Unplaced meanwhile(*state->core);
  const std::uint64_t records = state->core->event_records(id_of(event));
  state->core->on_context_wait(id_of(event), records);
  const int result = call();
  if (result == cu::kSuccess) { state->core->on_context_wait(id_of(event), records); }
  return result;
}

// Null where the driver does not say.
cu::Context context_of(cu::GreenContext green) {
  Interposer* state = interposer();
  cu::Context context = nullptr;
  const bool asked = state != nullptr && state->driver.calls.ctx_from_green_ctx != nullptr;
  return asked && state->driver.calls.ctx_from_green_ctx(&context, green) == cu::kSuccess ? context : nullptr;
}

// Behind all that a context holds, which other threads may add to meanwhile.
template <class Call>
int recorded_by_context(cu::Event event, Call call) {
  Interposer* state = interposer();
  if (state == nullptr) { return call(); }
  const driver::UnseenRecord record(*state->core, id_of(event));
  return call();
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cuStreamCreate(cu::Stream* stream, unsigned flags) {
  const int result = call_real<&cuStreamCreate>(stream, flags);
  StreamHooks::tell_created(result, stream, flags, 0);
  return result;
}

int cuStreamCreateWithPriority(cu::Stream* stream, unsigned flags, int priority) {
  const int result = call_real<&cuStreamCreateWithPriority>(stream, flags, priority);
  StreamHooks::tell_created(result, stream, flags, priority);
  return result;
}

int cuGreenCtxStreamCreate(cu::Stream* stream, cu::GreenContext context, unsigned flags, int priority) {
  const int result = call_real<&cuGreenCtxStreamCreate>(stream, context, flags, priority);
  StreamHooks::tell_created(result, stream, flags, priority);
  return result;
}

int cuStreamDestroy(cu::Stream stream) { return StreamHooks::destroy_stream<&cuStreamDestroy>(stream); }
int cuStreamDestroy_v2(cu::Stream stream) { return StreamHooks::destroy_stream<&cuStreamDestroy_v2>(stream); }

int cuStreamWaitEvent(cu::Stream stream, cu::Event event, unsigned flags) {
  return StreamHooks::wait_event<&cuStreamWaitEvent>(kLegacy, stream, event, flags);
}
int cuStreamWaitEvent_ptsz(cu::Stream stream, cu::Event event, unsigned flags) {
  return StreamHooks::wait_event<&cuStreamWaitEvent_ptsz>(kPerThread, stream, event, flags);
}

int cuStreamSynchronize(cu::Stream stream) { return StreamHooks::finish_stream<&cuStreamSynchronize>(kLegacy, stream); }
int cuStreamSynchronize_ptsz(cu::Stream stream) {
  return StreamHooks::finish_stream<&cuStreamSynchronize_ptsz>(kPerThread, stream);
}
int cuStreamQuery(cu::Stream stream) { return StreamHooks::finish_stream<&cuStreamQuery>(kLegacy, stream); }
int cuStreamQuery_ptsz(cu::Stream stream) { return StreamHooks::finish_stream<&cuStreamQuery_ptsz>(kPerThread, stream); }

int cuEventRecord(cu::Event event, cu::Stream stream) { return StreamHooks::record_event<&cuEventRecord>(kLegacy, event, stream); }

int cuEventRecord_ptsz(cu::Event event, cu::Stream stream) {
  return StreamHooks::record_event<&cuEventRecord_ptsz>(kPerThread, event, stream);
}

int cuEventRecordWithFlags(cu::Event event, cu::Stream stream, unsigned flags) {
  return StreamHooks::record_event<&cuEventRecordWithFlags>(kLegacy, event, stream, flags);
}

int cuEventRecordWithFlags_ptsz(cu::Event event, cu::Stream stream, unsigned flags) {
  return StreamHooks::record_event<&cuEventRecordWithFlags_ptsz>(kPerThread, event, stream, flags);
}

// From now on another process may record it.
int cuIpcGetEventHandle(cu::IpcEventHandle* handle, cu::Event event) {
  const int result = call_real<&cuIpcGetEventHandle>(handle, event);
  StreamHooks::tell_foreign(result, &event);
  return result;
}

int cuCtxRecordEvent(cu::Context context, cu::Event event) {
  return recorded_by_context(event, [=] { return call_real<&cuCtxRecordEvent>(context, event); });
}
int cuGreenCtxRecordEvent(cu::GreenContext context, cu::Event event) {
  return recorded_by_context(event, [=] { return call_real<&cuGreenCtxRecordEvent>(context, event); });
}

int cuCtxWaitEvent(cu::Context context, cu::Event event) {
  return context_waits(context, event, [=] { return call_real<&cuCtxWaitEvent>(context, event); });
}
int cuGreenCtxWaitEvent(cu::GreenContext context, cu::Event event) {
  return context_waits(context_of(context), event, [=] { return call_real<&cuGreenCtxWaitEvent>(context, event); });
}

int cuIpcOpenEventHandle(cu::Event* event, cu::IpcEventHandle handle) {
  const int result = call_real<&cuIpcOpenEventHandle>(event, handle);
  StreamHooks::tell_foreign(result, event);
  return result;
}

int cuEventQuery(cu::Event event) { return StreamHooks::finish_event<&cuEventQuery>(event); }
int cuEventSynchronize(cu::Event event) { return StreamHooks::finish_event<&cuEventSynchronize>(event); }
int cuEventDestroy(cu::Event event) { return StreamHooks::destroy_event<&cuEventDestroy>(event); }
int cuEventDestroy_v2(cu::Event event) { return StreamHooks::destroy_event<&cuEventDestroy_v2>(event); }
