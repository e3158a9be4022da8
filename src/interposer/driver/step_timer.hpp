#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "interposer/core/ab_trial.hpp"
#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"

namespace elbowroom::interposer::driver {

/// Events at the begin of steps, which tell how long each took. They are made when first needed and used again.
template <class D>
class StepTimer {
  using Place = typename D::Place;
  using Stream = typename D::Stream;
  using Event = typename D::Event;
  using OwnCalls = typename D::OwnCalls;

 public:
  StepTimer(const D& driver, Core& core) : driver_(driver), core_(core) {}

  /// Records that a step begins on this stream; the core is told its time once the next one has begun there as well.
  void begin_step(Place place, Stream stream, std::uint64_t step);
  /// Tells the core of the steps that have finished. Cheap when there is nothing to ask or it was asked a moment ago.
  void poll(std::uint64_t now_ns);

 private:
  /// A host that runs ahead begins many steps before the first of them has ended; none of those that are compared may be lost.
  static constexpr std::size_t kSteps = AbTrial::kMostAhead;
  static constexpr std::uint64_t kPollInterval = 200'000;  // ns

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
  /// Without the lock: a question may wait for room in a stream's queue, or for what another thread's launch is needed for.
  void poll_steps();

  const D& driver_;
  Core& core_;
  OwnMutex mutex_;
  std::array<StepEvent, kSteps> steps_{};
  std::atomic<std::uint64_t> oldest_step_{0};  ///< whose time is not told yet; 0: none
  std::atomic<std::uint64_t> newest_step_{0};
  std::atomic<bool> polled_{false};  ///< by some thread, at present
  std::atomic<std::uint64_t> next_poll_{0};
};

// Events are made and recorded without the lock, as they are asked for. A place of the table keeps the event that it got first,
// which another thread may ask about: a step that begins in another context has no time.
template <class D>
void StepTimer<D>::begin_step(Place place, Stream stream, std::uint64_t step) {
  if (place == D::kNowhere || !driver_.can_time()) { return; }
  const OwnCalls own(driver_.calls);
  StepEvent mark = locked([&] {
    steps_[step % kSteps].step = 0;
    return steps_[step % kSteps];
  });
  if (mark.event == nullptr && driver_.make_event(place, mark.event)) { mark.place = place; }
  const bool timed = mark.event != nullptr && mark.place == place;
  mark.stream = stream;
  mark.step = timed && driver_.calls.event_record(mark.event, stream) == D::kSuccess ? step : 0;
  const std::lock_guard lock(mutex_);
  steps_[step % kSteps] = mark;
  const std::uint64_t oldest = oldest_step_.load(std::memory_order_relaxed);
  if (oldest == 0 || oldest + kSteps <= step) { oldest_step_.store(step, std::memory_order_relaxed); }
  newest_step_.store(step, std::memory_order_relaxed);
}

template <class D>
void StepTimer<D>::poll(std::uint64_t now_ns) {
  const bool waits = oldest_step_.load(std::memory_order_relaxed) < newest_step_.load(std::memory_order_relaxed);
  if (!waits || now_ns < next_poll_.load(std::memory_order_relaxed)) { return; }
  // Asking for an event would break a capture in global mode, also one that another thread begins right now.
  if (core_.capturing()) { return; }
  if (polled_.exchange(true, std::memory_order_acquire)) { return; }
  {
    const OwnMutex::Busy asking;  // a handler that interrupts this stands aside
    const OwnCalls own(driver_.calls);
    const typename D::RelaxedCapture relaxed(driver_.calls);
    next_poll_.store(now_ns + kPollInterval, std::memory_order_relaxed);
    poll_steps();
  }
  polled_.store(false, std::memory_order_release);
}

template <class D>
void StepTimer<D>::poll_steps() {
  for (;;) {
    const std::uint64_t oldest = oldest_step_.load(std::memory_order_relaxed);
    if (oldest >= newest_step_.load(std::memory_order_relaxed)) { return; }
    StepEvent begun;
    StepEvent next;
    // A step that was not recorded, or on another stream, leaves two times unknown.
    const bool asks = locked([&] {
      begun = steps_[oldest % kSteps];
      next = steps_[(oldest + 1) % kSteps];
      return begun.step == oldest && next.step == oldest + 1 && begun.stream == next.stream;
    });
    float milliseconds = 0;
    const int state = asks ? driver_.elapsed(milliseconds, begun.event, next.event) : D::kSuccess;
    if (state == D::kErrorNotReady) { return; }
    std::uint64_t told = oldest;
    oldest_step_.compare_exchange_strong(told, oldest + 1, std::memory_order_relaxed);
    if (asks && state == D::kSuccess) {
      core_.on_step_time(oldest, static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6));
    } else {
      core_.on_step_lost(oldest);
    }
  }
}

}  // namespace elbowroom::interposer::driver
