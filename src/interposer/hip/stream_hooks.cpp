#include "interposer/driver/stream_hooks.hpp"

#include <bit>
#include <numeric>

#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"

// Streams and events: what the program orders by itself. Facts are told once the runtime has accepted the call.

namespace elbowroom::interposer::hip {
namespace {

using StreamHooks = driver::StreamHooks<Driver>;

void tell_gone(Interposer& state, hip::Stream stream) {
  state.driver.carriers.remove(id_of(stream));
  state.driver.cu_masks.remove(id_of(stream));
}

std::uint32_t units_of(std::uint32_t words, const std::uint32_t* mask) {
  return std::accumulate(mask, mask + words, std::uint32_t{0}, [](std::uint32_t units, std::uint32_t word) {
    return units + static_cast<std::uint32_t>(std::popcount(word));
  });
}

// A new stream may have the handle of one that a carrier was made for. `units`: of its mask; 0: it has none.
void tell_created(int result, const hip::Stream* stream, unsigned flags, int priority, std::uint32_t units) {
  Interposer* state = interposer();
  if (state == nullptr || result != hip::kSuccess || stream == nullptr || *stream == nullptr) { return; }
  tell_gone(*state, *stream);
  if (units != 0) {
    state->driver.carriers.refuse(id_of(*stream));
    state->driver.cu_masks.add(id_of(*stream), state->driver.current_place(), units);
  }
  StreamHooks::tell_created(result, stream, flags, priority);
}

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipStreamCreate(hip::Stream* stream) {
  const int result = call_real<&hipStreamCreate>(stream);
  tell_created(result, stream, 0, 0, 0);
  return result;
}

int hipStreamCreateWithFlags(hip::Stream* stream, unsigned flags) {
  const int result = call_real<&hipStreamCreateWithFlags>(stream, flags);
  tell_created(result, stream, flags, 0, 0);
  return result;
}

int hipStreamCreateWithPriority(hip::Stream* stream, unsigned flags, int priority) {
  const int result = call_real<&hipStreamCreateWithPriority>(stream, flags, priority);
  tell_created(result, stream, flags, priority, 0);
  return result;
}

int hipExtStreamCreateWithCUMask(hip::Stream* stream, std::uint32_t words, const std::uint32_t* mask) {
  const int result = call_real<&hipExtStreamCreateWithCUMask>(stream, words, mask);
  tell_created(result, stream, 0, 0, result == hip::kSuccess ? units_of(words, mask) : 0);
  return result;
}

// What its carrier still runs is joined to the stream, so that the runtime waits for both.
int hipStreamDestroy(hip::Stream stream) {
  const int result = StreamHooks::destroy_stream<&hipStreamDestroy>(stream);
  Interposer* state = interposer();
  if (state != nullptr && result == hip::kSuccess) { tell_gone(*state, stream); }
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
