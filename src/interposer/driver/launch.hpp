#pragma once

#include "interposer/driver/followed.hpp"

/// The part that all launch hooks share. A request is the launch as the program asked for it, and `original(request)` makes it so.
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
  const int result = clock.time([&] { return original(request); });
  return {result, result == 0 ? when_ok : LaunchOutcome::failed};
}

}  // namespace elbowroom::interposer::driver
