#include "interposer/driver/stream_hooks.hpp"

#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"

// Streams and events: what the program orders by itself. Facts are told once the driver has accepted the call.

using namespace elbowroom::interposer::cuda;
using elbowroom::interposer::Unusual;
using StreamHooks = elbowroom::interposer::driver::StreamHooks<Driver>;

int cuGreenCtxStreamCreate(cu::Stream* stream, cu::GreenContext context, unsigned flags, int priority) {
  return aside<&cuGreenCtxStreamCreate>(Unusual::green_context, stream, context, flags, priority);
}

int cuStreamDestroy(cu::Stream stream) { return StreamHooks::destroy_stream<&cuStreamDestroy>(stream); }
int cuStreamDestroy_v2(cu::Stream stream) { return StreamHooks::destroy_stream<&cuStreamDestroy_v2>(stream); }

int cuStreamWaitEvent(cu::Stream stream, cu::Event event, unsigned flags) {
  return StreamHooks::wait_event<&cuStreamWaitEvent>(kLegacy, stream, event, flags);
}
int cuStreamWaitEvent_ptsz(cu::Stream stream, cu::Event event, unsigned flags) {
  return StreamHooks::wait_event<&cuStreamWaitEvent_ptsz>(kPerThread, stream, event, flags);
}

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

// Another process may record such an event.
int cuIpcGetEventHandle(cu::IpcEventHandle* handle, cu::Event event) {
  return aside<&cuIpcGetEventHandle>(Unusual::foreign_event, handle, event);
}
int cuIpcOpenEventHandle(cu::Event* event, cu::IpcEventHandle handle) {
  return aside<&cuIpcOpenEventHandle>(Unusual::foreign_event, event, handle);
}
int cuEventCreateFromEGLSync(cu::Event* event, void* sync, unsigned flags) {
  return aside<&cuEventCreateFromEGLSync>(Unusual::foreign_event, event, sync, flags);
}

int cuCtxRecordEvent(cu::Context context, cu::Event event) {
  return aside<&cuCtxRecordEvent>(Unusual::context_wait, context, event);
}
int cuCtxWaitEvent(cu::Context context, cu::Event event) { return aside<&cuCtxWaitEvent>(Unusual::context_wait, context, event); }
int cuGreenCtxRecordEvent(cu::GreenContext context, cu::Event event) {
  return aside<&cuGreenCtxRecordEvent>(Unusual::green_context, context, event);
}
int cuGreenCtxWaitEvent(cu::GreenContext context, cu::Event event) {
  return aside<&cuGreenCtxWaitEvent>(Unusual::green_context, context, event);
}

int cuEventDestroy(cu::Event event) { return StreamHooks::destroy_event<&cuEventDestroy>(event); }
int cuEventDestroy_v2(cu::Event event) { return StreamHooks::destroy_event<&cuEventDestroy_v2>(event); }
