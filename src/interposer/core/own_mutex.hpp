#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>

namespace elbowroom::interposer {

/// A mutex of the interposer's. A signal handler of the program may interrupt the thread that holds one, and then call exit, fork
/// or a hooked function. Whoever asks `held_here` first can stand aside instead of waiting for itself. What it holds may be
/// unlocked although a forked child made the mutex anew meanwhile.
class OwnMutex {
 public:
  void lock() {
    enter(this);
    int seen = kFree;
    const int mine = own_mark();
    if (state_.compare_exchange_strong(seen, mine, std::memory_order_acquire)) { return; }
    for (;;) {
      seen = state_.load(std::memory_order_relaxed);
      if (seen == kFree) {
        if (state_.compare_exchange_weak(seen, mine | kWaitedFor, std::memory_order_acquire)) { return; }
      } else if ((seen & kWaitedFor) != 0 || state_.compare_exchange_weak(seen, seen | kWaitedFor, std::memory_order_relaxed)) {
        state_.wait(seen | kWaitedFor, std::memory_order_relaxed);
      }
    }
  }
  bool try_lock() {
    enter(this);
    int expected = kFree;
    if (state_.compare_exchange_strong(expected, own_mark(), std::memory_order_acquire)) { return true; }
    leave();
    return false;
  }
  /// For the end of the process. Waits a second at most, as whoever holds it may be stopped, and wait for this thread. Where this
  /// thread holds one of these itself, a few milliseconds: it may be this one.
  bool lock_if_possible() {
    const int attempts = held_here() ? kAttempts : 50 * kAttempts;
    for (int i = 0; i < attempts; ++i) {
      if (try_lock()) { return true; }
      const timespec pause{0, 1'000'000};
      static_cast<void>(nanosleep(&pause, nullptr));
    }
    return false;
  }
  void unlock() {
    give_free();
    leave();
  }

  /// For a scope that no handler may come into again, as if a mutex were held.
  class Busy {
   public:
    Busy() { enter(nullptr); }
    ~Busy() { leave(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
  };

  /// Gives free what this thread holds. For a thread that was interrupted and never comes back to what it guards, which may be half
  /// written. Those who wait for it would wait for ever.
  static void abandon() {
    for (OwnMutex* volatile& asked : asked_for_) {
      OwnMutex* mutex = asked;
      asked = nullptr;
      if (mutex != nullptr && (mutex->state_.load(std::memory_order_relaxed) & ~kWaitedFor) == own_mark()) { mutex->give_free(); }
    }
  }

  /// Whether this thread holds some OwnMutex, or is about to.
  static bool held_here() { return held_ != 0; }

 private:
  static constexpr int kFree = 0, kWaitedFor = 1;  // otherwise the mark of who holds it, with or without kWaitedFor
  static constexpr int kAttempts = 20;
  static constexpr std::sig_atomic_t kMostNoted = 3;  // that a thread holds at once; one too many is not noted

  void give_free() {
    if ((state_.exchange(kFree, std::memory_order_release) & kWaitedFor) != 0) { state_.notify_one(); }
  }

  // Of the thread, and of none that lives at the same time.
  static int own_mark() {
    if (mark_ == 0) { mark_ = static_cast<int>(syscall(SYS_gettid)) << 1U; }
    return mark_;
  }

  // From before the first moment at which a handler could find it taken to after the last.
  static void enter(OwnMutex* mutex) {
    const std::sig_atomic_t depth = held_;
    held_ = depth + 1;
    note(depth, mutex);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  static void leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::sig_atomic_t depth = held_ - 1;
    note(depth, nullptr);
    held_ = depth;
  }
  static void note(std::sig_atomic_t depth, OwnMutex* mutex) {
    if (depth < kMostNoted) { asked_for_[depth] = mutex; }
  }

  inline static thread_local constinit volatile std::sig_atomic_t held_ = 0;
  inline static thread_local constinit OwnMutex* volatile asked_for_[kMostNoted] = {};
  inline static thread_local constinit int mark_ = 0;
  std::atomic<int> state_{kFree};
};

}  // namespace elbowroom::interposer
