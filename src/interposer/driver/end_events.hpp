#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"

namespace elbowroom::interposer::driver {

/// The events behind collectives that tell of their ends, one for each of the core's slots. Made when first needed and used again.
template <class D>
class EndEvents {
  using Place = typename D::Place;
  using Event = typename D::Event;

 public:
  explicit EndEvents(const D& driver) : driver_(driver) {}

  /// `timed`: the event is to have a time. On H200 that makes a record 1.1 us longer for the host, and 2 us for the device.
  bool record(Place place, EventSlot slot, typename D::Stream stream, bool timed) {
    const typename D::OwnCalls own(driver_.calls);
    if (place == D::kNowhere || !driver_.can_time()) { return false; }
    Event event = event_of(place, slot, timed);
    if (event == nullptr) { event = make(place, slot, timed); }
    times_[slot].store(timed, std::memory_order_relaxed);
    return event != nullptr && driver_.calls.event_record(event, stream) == D::kSuccess;
  }
  [[nodiscard]] bool has_passed(Place place, EventSlot slot) {
    const typename D::OwnCalls own(driver_.calls);
    const Event event = event_of(place, slot, is_timed(slot));
    if (event == nullptr) { return false; }
    const typename D::RelaxedCapture relaxed(driver_.calls);
    return driver_.has_passed(event);
  }
  /// Null: the one that was recorded last has no time.
  [[nodiscard]] Event timed_event(Place place, EventSlot slot) { return is_timed(slot) ? event_of(place, slot, true) : nullptr; }

 private:
  struct Entry {
    Place place = D::kNowhere;
    Event event = nullptr;
  };

  [[nodiscard]] bool is_timed(EventSlot slot) const { return times_[slot].load(std::memory_order_relaxed); }
  Event event_of(Place place, EventSlot slot, bool timed) {
    const std::lock_guard lock(mutex_);
    const Entry& entry = entries_[timed ? 1 : 0][slot];
    return entry.place == place ? entry.event : nullptr;
  }
  // The driver is called without the lock. It may wait for what a place is about, which another one's launch may be needed for.
  Event make(Place place, EventSlot slot, bool timed) {
    Event made = nullptr;
    if (!driver_.make_end_event(place, made, timed)) { return nullptr; }
    Entry before;
    {
      const std::lock_guard lock(mutex_);
      before = std::exchange(entries_[timed ? 1 : 0][slot], Entry{place, made});
    }
    if (before.event != nullptr) { driver_.destroy_event(before.place, before.event); }
    return made;
  }

  const D& driver_;
  OwnMutex mutex_;
  std::array<std::array<Entry, kEventSlots>, 2> entries_{};  // without a time, and with one
  std::array<std::atomic<bool>, kEventSlots> times_{};       // whether the one that was recorded last has one
};

}  // namespace elbowroom::interposer::driver
