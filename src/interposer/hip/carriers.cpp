#include "interposer/hip/carriers.hpp"

namespace elbowroom::interposer::hip {

Carrier Carriers::of(StreamId id, hip::Stream stream, int device) {
  const std::lock_guard lock(mutex_);
  if (const Carrier* known = entries_.find(id)) { return *known; }
  Carrier* entry = entries_.obtain(id);
  if (entry == nullptr) { return {}; }
  return *entry = make(stream, device);
}

Carrier Carriers::make(hip::Stream stream, int device) {
  if (calls_.stream_create_with_priority == nullptr || calls_.device_get_stream_priority_range == nullptr ||
      calls_.event_create_with_flags == nullptr || calls_.event_record == nullptr || calls_.stream_wait_event == nullptr) {
    return {};
  }
  const KeepsLastError errors(calls_);
  const CurrentDevice scope(calls_, device);
  const RelaxedCapture relaxed(calls_);
  int least = 0;
  int greatest = 0;
  if (!scope.ok() || calls_.device_get_stream_priority_range(&least, &greatest) != hip::kSuccess || greatest >= least) {
    return {};
  }
  int own = 0;
  const bool known = calls_.stream_get_priority != nullptr && calls_.stream_get_priority(stream, &own) == hip::kSuccess;
  if (!known || own <= greatest) { return {}; }
  Carrier made;
  const bool complete = calls_.stream_create_with_priority(&made.stream, hip::kStreamNonBlocking, greatest) == hip::kSuccess &&
                        calls_.event_create_with_flags(&made.fork, hip::kEventDisableTiming) == hip::kSuccess &&
                        calls_.event_create_with_flags(&made.join, hip::kEventDisableTiming) == hip::kSuccess;
  if (complete) { return made; }
  destroy(made);
  return {};
}

void Carriers::destroy(const Carrier& carrier) {
  const KeepsLastError errors(calls_);
  for (const hip::Event event : {carrier.fork, carrier.join}) {
    if (event != nullptr && calls_.event_destroy != nullptr) { calls_.event_destroy(event); }
  }
  if (carrier.stream != nullptr && calls_.stream_destroy != nullptr) { calls_.stream_destroy(carrier.stream); }
}

void Carriers::remove(StreamId id) {
  Carrier carrier;
  {
    const std::lock_guard lock(mutex_);
    const Carrier* entry = entries_.find(id);
    if (entry == nullptr) { return; }
    carrier = *entry;
    entries_.erase(id);
  }
  destroy(carrier);  // may wait for what the carrier still runs
}

}  // namespace elbowroom::interposer::hip
