#pragma once

#include <array>
#include <cstdint>

namespace elbowroom::interposer {

/// Finds the step of a training loop in the sequence of its collectives: the shortest repetition that was seen three times in a row.
/// Equal sequences give equal steps, so that the ranks of a job find theirs at the same collective.
class StepMarks {
 public:
  enum class Mark : std::uint8_t { none, step, lost };

  /// A step holds at least this many collectives; shorter repetitions are taken several at a time.
  static constexpr std::uint32_t kLeastPerStep = 16;
  static constexpr std::uint32_t kMostRemembered = 2048;

  /// The signature of each collective in turn. `step`: one repetition ended with the previous collective. `lost`: the sequence no longer
  /// repeats, and the search begins anew with twice the evidence asked for. Amortised constant cost.
  Mark on_collective(std::uint64_t signature);
  [[nodiscard]] bool locked() const { return locked_; }
  [[nodiscard]] std::uint32_t period() const { return period_; }
  /// Names the repetition, wherever in it the search began.
  [[nodiscard]] std::uint64_t pattern() const { return pattern_; }

 private:
  void remember(std::uint64_t signature);

  std::array<std::uint64_t, kMostRemembered> signatures_{};
  std::array<std::uint16_t, kMostRemembered> border_{};  ///< longest proper border of each prefix (Knuth, Morris, Pratt)
  std::uint32_t count_ = 0;
  std::uint32_t limit_ = 64;
  std::uint32_t evidence_ = 24;
  std::uint32_t period_ = 0;
  std::uint32_t at_ = 0;  ///< collectives since the last mark
  std::uint32_t step_length_ = 0;
  std::uint64_t pattern_ = 0;
  bool locked_ = false;
};

}  // namespace elbowroom::interposer
