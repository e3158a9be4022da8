#pragma once

#include <signal.h>

#include <atomic>
#include <string_view>
#include <thread>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// While this lives, SIGINT, SIGTERM and SIGHUP ask the command to end at its next step instead of ending the process. So it can
/// say and keep what it has. A step that does not end in five seconds, and a second signal, end the process with a line. Signals
/// that the process was started to ignore stay ignored. Made before other threads are, which inherit what it blocks.
class Interruption {
 public:
  /// `who` speaks if the process is ended.
  explicit Interruption(std::string_view who);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// `failed` once a signal has come. Asked between steps.
  [[nodiscard]] Status check() const;
  [[nodiscard]] bool came() const { return signal_ != 0; }
  /// As a shell says it: 128 + signal.
  [[nodiscard]] int exit_code() const { return 128 + signal_; }

 private:
  void watch();
  [[noreturn]] void end_process() const;

  std::string_view who_;
  sigset_t watched_ = {};
  sigset_t mask_before_ = {};
  int signals_ = -1;  ///< a signalfd
  int over_ = -1;     ///< an eventfd: no longer needed
  std::atomic<int> signal_ = 0;
  mutable std::atomic<bool> noticed_ = false;
  std::thread watcher_;
};

}  // namespace elbowroom
