#pragma once

#include <atomic>
#include <csignal>
#include <ctime>

namespace elbowroom::interposer {

/// A mutex of the interposer's. A signal handler of the program may interrupt the thread that holds one, and then call exit, fork or a hooked
/// function: whoever asks `held_here` first can stand aside instead of waiting for itself. What it holds may be unlocked although a forked
/// child made the mutex anew meanwhile.
class OwnMutex {
 public:
  void lock() {
    enter();
    int expected = kFree;
    if (state_.compare_exchange_strong(expected, kTaken, std::memory_order_acquire)) { return; }
    while (state_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) { state_.wait(kWaitedFor, std::memory_order_relaxed); }
  }
  bool try_lock() {
    enter();
    int expected = kFree;
    if (state_.compare_exchange_strong(expected, kTaken, std::memory_order_acquire)) { return true; }
    leave();
    return false;
  }
  /// For whoever may be a handler: where this thread holds one of these, no more than a few milliseconds, as it may be this one.
  bool lock_if_possible() {
    if (!held_here()) {
      lock();
      return true;
    }
    for (int i = 0; i < kAttempts; ++i) {
      if (try_lock()) { return true; }
      const timespec pause{0, 1'000'000};
      static_cast<void>(nanosleep(&pause, nullptr));
    }
    return false;
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kWaitedFor) { state_.notify_one(); }
    leave();
  }

  /// For a scope that no handler may come into again, as if a mutex were held.
  class Busy {
   public:
    Busy() { enter(); }
    ~Busy() { leave(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
  };

  /// Whether this thread holds some OwnMutex, or is about to.
  static bool held_here() { return held_ != 0; }

 private:
  static constexpr int kFree = 0, kTaken = 1, kWaitedFor = 2;
  static constexpr int kAttempts = 20;

  // From before the first moment at which a handler could find it taken to after the last.
  static void enter() {
    held_ = held_ + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  static void leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    held_ = held_ - 1;
  }

  inline static thread_local constinit volatile std::sig_atomic_t held_ = 0;
  std::atomic<int> state_{kFree};
};

}  // namespace elbowroom::interposer
