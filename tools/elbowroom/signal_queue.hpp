#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

namespace elbowroom {

/// While this lives, SIGCHLD and the signals that a command is to get wait to be fetched. The children of this process can be
/// waited for. For single-threaded callers.
class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue() { restore(); }
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// As it was before; a command inherits both.
  void restore() const;

  /// The next signal and who sent it.
  [[nodiscard]] siginfo_t next() const;
  /// Absent: none came in that time.
  [[nodiscard]] std::optional<siginfo_t> next_within(std::chrono::milliseconds time) const;

 private:
  sigset_t queued_ = {};
  sigset_t mask_before_ = {};
  struct sigaction child_action_before_ = {};
};

}  // namespace elbowroom
