#pragma once

#include <cstdint>

namespace elbowroom::interposer {

/// Repetitions of one sequence of collectives that followed one another, by the host's clock. What lies between its two times is
/// theirs alone, with what the program did between them.
struct StepStretch {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t repetitions = 0;
  std::uint32_t collectives = 0;  ///< in one of them

  [[nodiscard]] std::uint64_t length_ns() const { return end_ns - begin_ns; }
};

/// The longest of them in a process. A sequence that breaks, for an evaluation for example, ends a stretch.
class StepStretches {
 public:
  /// A step of StepMarks begins, and with it ends the one before, which has that many repetitions.
  void on_step(std::uint32_t collectives, std::uint32_t repetitions, std::uint64_t now_ns) {
    if (!open_) {
      open_ = true;
      current_ = {now_ns, now_ns, 0, collectives};
      return;
    }
    current_.end_ns = now_ns;
    current_.repetitions += repetitions;
    if (current_.length_ns() >= longest_.length_ns()) { longest_ = current_; }
  }
  void on_lost() { open_ = false; }
  /// Without repetitions: there was none.
  [[nodiscard]] const StepStretch& longest() const { return longest_; }

 private:
  StepStretch current_;
  StepStretch longest_;
  bool open_ = false;
};

}  // namespace elbowroom::interposer
