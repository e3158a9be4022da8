#pragma once

#include <array>
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

  bool record(Place place, EventSlot slot, typename D::Stream stream) {
    const typename D::OwnCalls own(driver_.calls);
    if (place == D::kNowhere || !driver_.can_time()) { return false; }
    Event event = event_of(place, slot);
    if (event == nullptr) { event = make(place, slot); }
    return event != nullptr && driver_.calls.event_record(event, stream) == D::kSuccess;
  }
  [[nodiscard]] bool has_passed(Place place, EventSlot slot) {
    const typename D::OwnCalls own(driver_.calls);
    const Event event = event_of(place, slot);
    if (event == nullptr) { return false; }
    const typename D::RelaxedCapture relaxed(driver_.calls);
    return driver_.has_passed(event);
  }

 private:
  struct Entry {
    Place place = D::kNowhere;
    Event event = nullptr;
  };

  Event event_of(Place place, EventSlot slot) {
    const std::lock_guard lock(mutex_);
    return entries_[slot].place == place ? entries_[slot].event : nullptr;
  }
  // The driver is called without the lock. It may wait for what a place is about, which another one's launch may be needed for.
  Event make(Place place, EventSlot slot) {
    Event made = nullptr;
    if (!driver_.make_end_event(place, made)) { return nullptr; }
    Entry before;
    {
      const std::lock_guard lock(mutex_);
      before = std::exchange(entries_[slot], Entry{place, made});
    }
    if (before.event != nullptr) { driver_.destroy_event(before.place, before.event); }
    return made;
  }

  const D& driver_;
  OwnMutex mutex_;
  std::array<Entry, kEventSlots> entries_{};
};

}  // namespace elbowroom::interposer::driver
