#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace elbowroom::detail {

/// Calls `overdue` once, from a thread of its own, unless stop() comes within `patience`. What a call that may never return needs:
/// somebody else who lets go of what it waits for.
class Watchdog {
 public:
  Watchdog(std::chrono::milliseconds patience, std::function<void()> overdue);
  ~Watchdog() { static_cast<void>(stop()); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Ends the watch and waits for the thread. True when it came in time: `overdue` was not called and will not be.
  /// Only the thread that made the watchdog may call this; again is allowed and answers the same.
  bool stop();

 private:
  void watch(std::chrono::milliseconds patience);

  std::function<void()> overdue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  bool called_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace elbowroom::detail
