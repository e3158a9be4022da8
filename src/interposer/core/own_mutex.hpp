#pragma once

#include <atomic>
#include <csignal>
#include <mutex>

namespace elbowroom::interposer {

/// A mutex of the interposer's. A signal handler of the program may interrupt the thread that holds one and call a hooked function.
/// Every hook asks `held_here` first, and passes through instead of waiting for itself.
class OwnMutex {
 public:
  void lock() {
    enter();
    mutex_.lock();
  }
  void unlock() {
    mutex_.unlock();
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
  std::mutex mutex_;
};

}  // namespace elbowroom::interposer
