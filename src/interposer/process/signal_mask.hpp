#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace elbowroom::interposer::process {

/// Which signals are blocked in a thread, as the system has it, and set by itself: a sanitizer's runtime is not always ready for
/// calls of the C library's.
using SignalMask = std::uint64_t;
inline constexpr SignalMask kAllSignals = ~SignalMask{0};

/// Returns what was set before. Part of who calls it, which may be compiled without a sanitizer.
[[gnu::always_inline]] inline SignalMask set_signal_mask(SignalMask mask) {
  SignalMask before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

/// No handler interrupts the calling thread in this scope.
class Uninterrupted {
 public:
  Uninterrupted() : before_(set_signal_mask(kAllSignals)) {}
  ~Uninterrupted() { set_signal_mask(before_); }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  SignalMask before_;
};

}  // namespace elbowroom::interposer::process
