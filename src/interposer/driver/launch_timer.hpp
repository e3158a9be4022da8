#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "interposer/core/ab_trial.hpp"
#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/pending_timings.hpp"
#include "interposer/driver/driver.hpp"

namespace elbowroom::interposer::driver {

/// Pairs of events around the few launches that the core wants timed, and events at the begin of steps. They are made when first
/// needed and used again.
template <Driver D>
class LaunchTimer {
  using Place = typename D::Place;
  using Stream = typename D::Stream;
  using Event = typename D::Event;
  using OwnCalls = typename D::OwnCalls;

 public:
  LaunchTimer(const D& driver, Core& core) : driver_(driver), core_(core) {}

  /// Records the first event; the index of the pair, or kNone when none is free or the driver refused.
  int begin(Place place, Stream stream);
  /// Records the second event of a pair; `ticket` is told its time later, or that there will be none.
  void end(int pair, Stream stream, Ticket ticket);
  /// Gives up a pair whose launch failed.
  void drop(int pair);

  /// Records that a step begins on this stream; the core is told its time once the next one has begun there as well.
  void begin_step(Place place, Stream stream, std::uint64_t step);

  /// Tells the core of the pairs and steps that have finished. Cheap when there is nothing to ask or it was asked a moment ago.
  void poll(std::uint64_t now_ns);

  /// The events of the place are gone.
  void forget(Place place);

  static constexpr int kNone = -1;

 private:
  static constexpr std::size_t kPairs = 128;
  /// A host that runs ahead begins many steps before the first of them has ended; none of those that are compared may be lost.
  static constexpr std::size_t kSteps = AbTrial::kMostAhead;
  static constexpr std::uint64_t kPollInterval = 200'000;  // ns

  enum class Stage : std::uint8_t { kFree, kOpen, kPending };
  struct Pair {
    Place place = D::kNowhere;
    Stream stream = nullptr;
    Event begin = nullptr, end = nullptr;
    Ticket ticket = 0;
    Stage stage = Stage::kFree;
  };
  struct StepEvent {
    Place place = D::kNowhere;
    Stream stream = nullptr;
    Event event = nullptr;
    std::uint64_t step = 0;  ///< 0: not recorded
  };

  template <class Read>
  auto locked(Read&& read) {
    const std::lock_guard lock(mutex_);
    return read();
  }
  // With the lock held. Events are made and recorded without it: that may wait for room in a stream's queue, or for what a place is
  // about, which what another thread launches may be needed for.
  int take(Place place);
  /// Without the lock: gives a pair, or the mark of a step, events of the place; false where the driver does not.
  bool equip(Pair& pair, Place place);
  bool equip(StepEvent& mark, Place place);
  /// Without the lock, as a question may wait like that, too. No place is forgotten while it is asked about.
  void poll_pairs(std::uint64_t now_ns);
  void poll_steps();
  std::unique_lock<OwnMutex> lock_unless_asked(Place place);
  /// The time between two events, and D::kErrorNotReady before the later one has passed. Anything else is no time.
  int elapsed(Event begin, Event end, std::uint64_t& nanoseconds) const;

  const D& driver_;
  Core& core_;
  OwnMutex mutex_;
  std::array<Pair, kPairs> pairs_{};
  PendingTimings<kPairs> awaited_;
  std::array<StepEvent, kSteps> steps_{};
  std::atomic<std::uint64_t> oldest_step_{0};  ///< whose time is not told yet; 0: none
  std::atomic<std::uint64_t> newest_step_{0};
  std::atomic<int> pending_{0};
  std::atomic<bool> polled_{false};  ///< by some thread, at present
  std::atomic<Place> asked_about_{D::kNowhere};
  std::atomic<std::uint64_t> next_poll_{0};
};

template <Driver D>
int LaunchTimer<D>::take(Place place) {
  int unused = kNone;
  for (std::size_t i = 0; i < kPairs; ++i) {
    if (pairs_[i].stage != Stage::kFree) { continue; }
    if (pairs_[i].place == place) { return static_cast<int>(i); }
    if (pairs_[i].place == D::kNowhere && unused == kNone) { unused = static_cast<int>(i); }
  }
  return unused;
}

template <Driver D>
bool LaunchTimer<D>::equip(Pair& pair, Place place) {
  Event begin = nullptr;
  Event end = nullptr;
  if (!driver_.make_event(place, begin)) { return false; }
  if (!driver_.make_event(place, end)) {
    driver_.destroy_event(place, begin);
    return false;
  }
  const std::lock_guard lock(mutex_);
  pair.place = place;
  pair.begin = begin;
  pair.end = end;
  return true;
}

template <Driver D>
int LaunchTimer<D>::begin(Place place, Stream stream) {
  if (place == D::kNowhere || !driver_.can_time()) { return kNone; }
  const OwnCalls own(driver_.calls);
  bool equipped = false;
  const int index = locked([&] {
    const int taken = take(place);
    if (taken == kNone) { return kNone; }
    Pair& pair = pairs_[static_cast<std::size_t>(taken)];
    pair.stage = Stage::kOpen;
    equipped = pair.place == place;
    return taken;
  });
  if (index == kNone) { return kNone; }
  Pair& pair = pairs_[static_cast<std::size_t>(index)];
  if (equipped || equip(pair, place)) {
    const Event begun = locked([&] { return pair.begin; });
    if (driver_.calls.event_record(begun, stream) == D::kSuccess) { return index; }
  }
  drop(index);
  return kNone;
}

template <Driver D>
void LaunchTimer<D>::end(int pair, Stream stream, Ticket ticket) {
  const OwnCalls own(driver_.calls);
  Pair& open = pairs_[static_cast<std::size_t>(pair)];
  const Event ended = locked([&] { return open.end; });
  if (driver_.calls.event_record(ended, stream) != D::kSuccess) {
    drop(pair);
    core_.on_timing_lost(ticket);
    return;
  }
  const std::lock_guard lock(mutex_);
  open.stream = stream;
  open.ticket = ticket;
  open.stage = Stage::kPending;
  awaited_.add(static_cast<std::size_t>(pair), stream);
  pending_.fetch_add(1, std::memory_order_relaxed);
}

template <Driver D>
void LaunchTimer<D>::drop(int pair) {
  const std::lock_guard lock(mutex_);
  pairs_[static_cast<std::size_t>(pair)].stage = Stage::kFree;
}

template <Driver D>
bool LaunchTimer<D>::equip(StepEvent& mark, Place place) {
  const StepEvent before = locked([&] { return std::exchange(mark, StepEvent{}); });
  if (before.place != D::kNowhere) {
    lock_unless_asked(before.place).unlock();
    driver_.destroy_event(before.place, before.event);
  }
  Event made = nullptr;
  if (!driver_.make_event(place, made)) { return false; }
  const std::lock_guard lock(mutex_);
  mark.event = made;
  mark.place = place;
  return true;
}

template <Driver D>
void LaunchTimer<D>::begin_step(Place place, Stream stream, std::uint64_t step) {
  if (place == D::kNowhere || !driver_.can_time()) { return; }
  const OwnCalls own(driver_.calls);
  StepEvent& mark = steps_[step % kSteps];
  const bool equipped = locked([&] {
    mark.step = 0;
    return mark.place == place;
  });
  if (!equipped && !equip(mark, place)) { return; }
  const Event begun = locked([&] { return mark.event; });
  if (begun == nullptr || driver_.calls.event_record(begun, stream) != D::kSuccess) { return; }
  const std::lock_guard lock(mutex_);
  if (mark.event != begun) { return; }  // it went with its place meanwhile
  mark.stream = stream;
  mark.step = step;
  const std::uint64_t oldest = oldest_step_.load(std::memory_order_relaxed);
  if (oldest == 0 || oldest + kSteps <= step) { oldest_step_.store(step, std::memory_order_relaxed); }
  newest_step_.store(step, std::memory_order_relaxed);
}

template <Driver D>
void LaunchTimer<D>::poll(std::uint64_t now_ns) {
  const bool steps_wait = oldest_step_.load(std::memory_order_relaxed) < newest_step_.load(std::memory_order_relaxed);
  const bool waits = steps_wait || pending_.load(std::memory_order_relaxed) != 0;
  if (!waits || now_ns < next_poll_.load(std::memory_order_relaxed)) { return; }
  // Asking for an event would break a capture in global mode, also one that another thread begins right now.
  if (core_.capturing()) { return; }
  if (polled_.exchange(true, std::memory_order_acquire)) { return; }
  {
    const OwnMutex::Busy asking;  // a handler that interrupts this stands aside
    const OwnCalls own(driver_.calls);
    const typename D::RelaxedCapture relaxed(driver_.calls);
    next_poll_.store(now_ns + kPollInterval, std::memory_order_relaxed);
    poll_pairs(now_ns);
    poll_steps();
  }
  polled_.store(false, std::memory_order_release);
}

template <Driver D>
int LaunchTimer<D>::elapsed(Event begin, Event end, std::uint64_t& nanoseconds) const {
  float milliseconds = 0;
  const int state = driver_.elapsed(milliseconds, begin, end);
  if (state == D::kSuccess) { nanoseconds = static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6); }
  return state;
}

template <Driver D>
void LaunchTimer<D>::poll_pairs(std::uint64_t now_ns) {
  typename PendingTimings<kPairs>::Look look;
  for (;;) {
    Pair asked;
    const std::size_t pair = locked([&] {
      const std::size_t next = awaited_.next(look);
      if (next != awaited_.kNone) { asked_about_ = (asked = pairs_[next]).place; }
      return next;
    });
    if (pair == awaited_.kNone) { return; }
    std::uint64_t nanoseconds = 0;
    const int state = elapsed(asked.begin, asked.end, nanoseconds);
    const bool over = state != D::kErrorNotReady;
    locked([&] {
      asked_about_ = D::kNowhere;
      if (!over) { return awaited_.leave(look, pair); }
      awaited_.tell(look, pair);
      pairs_[pair].stage = Stage::kFree;
      pending_.fetch_sub(1, std::memory_order_relaxed);
    });
    if (state == D::kSuccess) {
      core_.on_timing(asked.ticket, nanoseconds, now_ns);
    } else if (over) {
      core_.on_timing_lost(asked.ticket);
    }
  }
}

template <Driver D>
void LaunchTimer<D>::poll_steps() {
  for (;;) {
    const std::uint64_t oldest = oldest_step_.load(std::memory_order_relaxed);
    if (oldest >= newest_step_.load(std::memory_order_relaxed)) { return; }
    StepEvent begun;
    StepEvent next;
    // A step that was not recorded, or on another stream, leaves two times unknown.
    const bool asks = locked([&] {
      begun = steps_[oldest % kSteps];
      next = steps_[(oldest + 1) % kSteps];
      const bool follow = begun.step == oldest && next.step == oldest + 1 && begun.stream == next.stream;
      if (follow) { asked_about_ = next.place; }
      return follow;
    });
    std::uint64_t nanoseconds = 0;
    const int state = asks ? elapsed(begun.event, next.event, nanoseconds) : D::kSuccess;
    locked([&] { asked_about_ = D::kNowhere; });
    if (state == D::kErrorNotReady) { return; }
    std::uint64_t told = oldest;
    oldest_step_.compare_exchange_strong(told, oldest + 1, std::memory_order_relaxed);
    if (asks && state == D::kSuccess) {
      core_.on_step_time(oldest, nanoseconds);
    } else {
      core_.on_step_lost(oldest);
    }
  }
}

template <Driver D>
std::unique_lock<OwnMutex> LaunchTimer<D>::lock_unless_asked(Place place) {
  std::unique_lock lock(mutex_);
  while (place != D::kNowhere && asked_about_ == place) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  return lock;
}

template <Driver D>
void LaunchTimer<D>::forget(Place place) {
  const std::unique_lock lock = lock_unless_asked(place);
  const auto is_gone = [&](const Pair& pair) { return pair.place == place; };
  awaited_.drop([&](std::size_t pair) { return is_gone(pairs_[pair]); });
  for (Pair& pair : pairs_) {
    if (!is_gone(pair)) { continue; }
    if (pair.stage == Stage::kPending) {
      core_.on_timing_lost(pair.ticket);
      pending_.fetch_sub(1, std::memory_order_relaxed);
    }
    pair = Pair{};
  }
  for (StepEvent& mark : steps_) {
    if (mark.place == place) { mark = StepEvent{}; }
  }
}

}  // namespace elbowroom::interposer::driver
