#include "signal_queue.hpp"

#include <array>
#include <cerrno>
#include <ctime>

namespace elbowroom {
namespace {

// Whatever ends a process that has no handler for it and that others send. Faults are a process's own, as are SIGPIPE and SIGXFSZ.
constexpr std::array kForwarded = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,   SIGUSR2,  SIGALRM,
                                   SIGXCPU, SIGPWR,  SIGPROF, SIGIO,   SIGSTKFLT, SIGVTALRM};

}  // namespace

SignalQueue::SignalQueue() {
  sigemptyset(&queued_);
  for (const int signal : kForwarded) { sigaddset(&queued_, signal); }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) { sigaddset(&queued_, signal); }
  sigaddset(&queued_, SIGCHLD);
  sigprocmask(SIG_BLOCK, &queued_, &mask_before_);
  // Whoever started this process may have set SIGCHLD to be ignored, and then ended children leave no exit code.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_action_before_);
}

void SignalQueue::restore() const {
  sigaction(SIGCHLD, &child_action_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

siginfo_t SignalQueue::next() const {
  siginfo_t info = {};
  while (sigwaitinfo(&queued_, &info) < 0 && errno == EINTR) {}
  return info;
}

std::optional<siginfo_t> SignalQueue::next_within(std::chrono::milliseconds time) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const timespec limit{seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
  siginfo_t info = {};
  return sigtimedwait(&queued_, &info, &limit) < 0 ? std::nullopt : std::optional(info);
}

}  // namespace elbowroom
