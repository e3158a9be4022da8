#include "interposer/driver/stream_hooks.hpp"

#include "interposer/core/unusual.hpp"
#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"

// Streams and events: what the program orders by itself. Facts are told once the runtime has accepted the call.

using namespace elbowroom::interposer::hip;
using elbowroom::interposer::Unusual;
using StreamHooks = elbowroom::interposer::driver::StreamHooks<Driver>;

int hipExtStreamCreateWithCUMask(hip::Stream* stream, std::uint32_t words, const std::uint32_t* mask) {
  return aside<&hipExtStreamCreateWithCUMask>(Unusual::masked_stream, stream, words, mask);
}

int hipExecutionCtxStreamCreate(hip::Stream* stream, hip::ExecutionContext context, unsigned flags, int priority) {
  return aside<&hipExecutionCtxStreamCreate>(Unusual::green_context, stream, context, flags, priority);
}

// Before the call: another thread may get the handle with it. What its carrier still runs is joined to the stream, so that the
// runtime waits for both.
int hipStreamDestroy(hip::Stream stream) {
  if (Interposer* state = interposer()) { state->driver.carriers.remove(id_of(stream)); }
  return StreamHooks::destroy_stream<&hipStreamDestroy>(stream);
}

int hipStreamWaitEvent(hip::Stream stream, hip::Event event, unsigned flags) {
  return StreamHooks::wait_event<&hipStreamWaitEvent>(kLegacy, stream, event, flags);
}
int hipStreamWaitEvent_spt(hip::Stream stream, hip::Event event, unsigned flags) {
  return StreamHooks::wait_event<&hipStreamWaitEvent_spt>(kPerThread, stream, event, flags);
}

int hipEventRecord(hip::Event event, hip::Stream stream) {
  return StreamHooks::record_event<&hipEventRecord>(kLegacy, event, stream);
}

int hipEventRecord_spt(hip::Event event, hip::Stream stream) {
  return StreamHooks::record_event<&hipEventRecord_spt>(kPerThread, event, stream);
}

int hipEventRecordWithFlags(hip::Event event, hip::Stream stream, unsigned flags) {
  return StreamHooks::record_event<&hipEventRecordWithFlags>(kLegacy, event, stream, flags);
}

int hipEventDestroy(hip::Event event) { return StreamHooks::destroy_event<&hipEventDestroy>(event); }
