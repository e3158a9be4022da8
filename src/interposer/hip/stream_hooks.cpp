#include "interposer/driver/stream_hooks.hpp"

#include <algorithm>
#include <optional>

#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"

// Streams and events: what the program orders by itself. Facts are told once the runtime has accepted the call.

namespace elbowroom::interposer::hip {
namespace {

using StreamHooks = driver::StreamHooks<Driver>;

/// The compute units of its device that a stream is kept to.
struct CuMask {
  int device = -1;          ///< below 0: not known
  std::uint32_t units = 1;  ///< at least 1, which it is as well where it is not known
};

// A new stream may have the handle of one that a carrier was made for.
void tell_created(int result, const hip::Stream* stream, unsigned flags, int priority, const std::optional<CuMask>& mask) {
  Interposer* state = interposer();
  if (state == nullptr || result != hip::kSuccess || stream == nullptr || *stream == nullptr) { return; }
  state->driver.carriers.remove(id_of(*stream));
  if (mask) {
    state->driver.carriers.refuse(id_of(*stream));
    state->driver.parts.note(mask->device, mask->units);
  }
  StreamHooks::tell_created(result, stream, flags, priority);
}

// Bits beyond the device's units say nothing. Null where the call failed.
std::optional<CuMask> mask_of(int result, std::uint32_t words, const std::uint32_t* mask) {
  Interposer* state = interposer();
  if (state == nullptr || result != hip::kSuccess) { return std::nullopt; }
  const int device = state->driver.current_place();
  const std::uint32_t all = state->driver.describe_device(device).sms;
  std::uint32_t units = 0;
  for (std::uint32_t unit = 0; unit < std::min(all, words * 32U); ++unit) { units += mask[unit / 32U] >> (unit % 32U) & 1U; }
  return CuMask{device, std::max(units, 1U)};
}

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipStreamCreate(hip::Stream* stream) {
  const int result = call_real<&hipStreamCreate>(stream);
  tell_created(result, stream, 0, 0, {});
  return result;
}

int hipStreamCreateWithFlags(hip::Stream* stream, unsigned flags) {
  const int result = call_real<&hipStreamCreateWithFlags>(stream, flags);
  tell_created(result, stream, flags, 0, {});
  return result;
}

int hipStreamCreateWithPriority(hip::Stream* stream, unsigned flags, int priority) {
  const int result = call_real<&hipStreamCreateWithPriority>(stream, flags, priority);
  tell_created(result, stream, flags, priority, {});
  return result;
}

int hipExtStreamCreateWithCUMask(hip::Stream* stream, std::uint32_t words, const std::uint32_t* mask) {
  const int result = call_real<&hipExtStreamCreateWithCUMask>(stream, words, mask);
  tell_created(result, stream, 0, 0, mask_of(result, words, mask));
  return result;
}

int hipExecutionCtxStreamCreate(hip::Stream* stream, hip::ExecutionContext context, unsigned flags, int priority) {
  const int result = call_real<&hipExecutionCtxStreamCreate>(stream, context, flags, priority);
  const Interposer* state = interposer();
  const bool made = state != nullptr && result == hip::kSuccess;
  tell_created(result, stream, flags, priority, CuMask{made ? state->driver.place_of(*stream) : -1});
  return result;
}

// Before the call: another thread may get the handle with it. What its carrier still runs is joined to the stream, so that the
// runtime waits for both.
int hipStreamDestroy(hip::Stream stream) {
  Interposer* state = interposer();
  const bool refused = state != nullptr && state->driver.carriers.remove(id_of(stream));
  const int result = StreamHooks::destroy_stream<&hipStreamDestroy>(stream);
  if (refused && result != hip::kSuccess) { state->driver.carriers.refuse(id_of(stream)); }
  return result;
}

int hipStreamWaitEvent(hip::Stream stream, hip::Event event, unsigned flags) {
  return StreamHooks::wait_event<&hipStreamWaitEvent>(kLegacy, stream, event, flags);
}
int hipStreamWaitEvent_spt(hip::Stream stream, hip::Event event, unsigned flags) {
  return StreamHooks::wait_event<&hipStreamWaitEvent_spt>(kPerThread, stream, event, flags);
}

int hipStreamSynchronize(hip::Stream stream) { return StreamHooks::finish_stream<&hipStreamSynchronize>(kLegacy, stream); }
int hipStreamSynchronize_spt(hip::Stream stream) {
  return StreamHooks::finish_stream<&hipStreamSynchronize_spt>(kPerThread, stream);
}
int hipStreamQuery(hip::Stream stream) { return StreamHooks::finish_stream<&hipStreamQuery>(kLegacy, stream); }
int hipStreamQuery_spt(hip::Stream stream) { return StreamHooks::finish_stream<&hipStreamQuery_spt>(kPerThread, stream); }

int hipEventRecord(hip::Event event, hip::Stream stream) {
  return StreamHooks::record_event<&hipEventRecord>(kLegacy, event, stream);
}

int hipEventRecord_spt(hip::Event event, hip::Stream stream) {
  return StreamHooks::record_event<&hipEventRecord_spt>(kPerThread, event, stream);
}

int hipEventRecordWithFlags(hip::Event event, hip::Stream stream, unsigned flags) {
  return StreamHooks::record_event<&hipEventRecordWithFlags>(kLegacy, event, stream, flags);
}

int hipEventQuery(hip::Event event) { return StreamHooks::finish_event<&hipEventQuery>(event); }
int hipEventSynchronize(hip::Event event) { return StreamHooks::finish_event<&hipEventSynchronize>(event); }

int hipEventDestroy(hip::Event event) { return StreamHooks::destroy_event<&hipEventDestroy>(event); }
