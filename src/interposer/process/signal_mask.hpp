#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace elbowroom::interposer::process {

/// Which signals are blocked in a thread, as the system has it, and set by itself: a sanitizer's runtime is not always ready for
/// calls of the C library's.
using SignalMask = std::uint64_t;

constexpr SignalMask bit_of(int signal) { return SignalMask{1} << (static_cast<unsigned>(signal) - 1U); }

/// Signals that must come at once. A fault of the thread itself ends the process where it is blocked. Runtimes stop threads by
/// SIGPWR, SIGXCPU or a real-time signal, and wait for each. The C library does so by signal 33, to change the user of all threads.
inline constexpr SignalMask kUrgentSignals = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) | bit_of(SIGILL) | bit_of(SIGTRAP) |
                                             bit_of(SIGSYS) | bit_of(SIGPWR) | bit_of(SIGXCPU) | ~(bit_of(33) - 1U);

/// Blocks all other signals beside what the program has blocked, and returns that. Part of who calls it, which may be compiled
/// without a sanitizer.
[[gnu::always_inline]] inline SignalMask block_signals() {
  const SignalMask held = ~kUrgentSignals;
  SignalMask before = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &held, &before, sizeof held);
  return before;
}
[[gnu::always_inline]] inline void set_signal_mask(SignalMask mask) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
}

/// Holds the other signals back in this scope. A handler that ends the process, or forks, would hang or cut off what is written
/// here, where the program alone does neither. Not for calls that may wait for long: a signal may be what they wait for. No
/// OwnMutex is waited for here: whoever holds it may be stopped by a signal that this thread holds back, and be waited for with it.
class Undisturbed {
 public:
  Undisturbed() : before_(block_signals()) {}
  ~Undisturbed() { set_signal_mask(before_); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  SignalMask before_;
};

}  // namespace elbowroom::interposer::process
