#pragma once

#include "interposer/driver/interposer.hpp"

/// What is the same of every launch hook. A request is the launch as the program asked for it, and `original.call(request)` makes
/// it so.
namespace elbowroom::interposer::driver {

struct Launched {
  int result;
  LaunchOutcome outcome;
};

/// The time that a hook takes for a launch, the driver's own left out, measured for every Overhead::kSampled-th launch of a thread.
class LaunchAccount {
 public:
  explicit LaunchAccount(process::Overhead& overhead)
      : clock(next() % process::Overhead::kSampled == 0), overhead_(overhead), begin_(clock.on() ? process::now_ns() : 0) {}

  /// When the hook began, or was first asked.
  std::uint64_t begin() {
    if (begin_ == 0) { begin_ = process::now_ns(); }
    return begin_;
  }
  void end(bool in_window) {
    if (clock.on()) { overhead_.add_sample(in_window, process::now_ns() - begin_ - clock.spent_ns()); }
  }

  process::DriverClock clock;

 private:
  static std::uint32_t next() {
    thread_local std::uint32_t launches = 0;
    return launches++;
  }

  process::Overhead& overhead_;
  std::uint64_t begin_;
};

template <class Request, class Original>
Launched launch_plainly(const Request& request, Original original, LaunchOutcome when_ok, process::DriverClock& clock) {
  const int result = clock.time([&] { return original.call(request); });
  return {result, result == 0 ? when_ok : LaunchOutcome::failed};
}

/// A launch that the core does not change: it is told how that went, and that no time will come.
template <class Request, class Original>
int launch_untouched(Core& core, const Request& request, Original original, const Decision& decision, LaunchOutcome when_ok,
                     process::DriverClock& clock) {
  const Launched launched = launch_plainly(request, original, when_ok, clock);
  if (decision.ticket != 0) { core.on_launched(decision.ticket, launched.outcome); }
  if (decision.time_it) { core.on_timing_lost(decision.ticket); }
  return launched.result;
}

/// The events that the core wants around a launch: the step that begins with it, and the launch's own time.
template <Driver D>
class LaunchEvents {
 public:
  LaunchEvents(Interposer<D>& state, const Decision& decision, typename D::Place place, typename D::Stream stream)
      : state_(state), decision_(decision), stream_(stream) {
    if (decision.step != 0) { state.timer.begin_step(place, stream, decision.step); }
    if (decision.time_it) { pair_ = state.timer.begin(place, stream); }
  }

  /// Tells the core how the launch went. `times`: its time is that of the launch which the core decided.
  void launched(LaunchOutcome outcome, bool times) {
    if (decision_.ticket != 0) { state_.core->on_launched(decision_.ticket, outcome); }
    if (pair_ != LaunchTimer<D>::kNone && times) {
      state_.timer.end(pair_, stream_, decision_.ticket);
      return;
    }
    if (pair_ != LaunchTimer<D>::kNone) { state_.timer.drop(pair_); }
    if (decision_.time_it) { state_.core->on_timing_lost(decision_.ticket); }
  }

 private:
  Interposer<D>& state_;
  const Decision& decision_;
  typename D::Stream stream_;
  int pair_ = LaunchTimer<D>::kNone;
};

}  // namespace elbowroom::interposer::driver
