#pragma once

#include <array>
#include <cstdint>

namespace elbowroom::interposer {

/// Finds the step of a training loop in the sequence of its collectives: the shortest repetition that was seen three times in a
/// row. A repetition that lasted (training, before an evaluation) is found again as soon as one step of it has passed. Equal
/// sequences give equal steps, so that the ranks of a job find theirs at the same collective.
class StepMarks {
 public:
  enum class Mark : std::uint8_t { none, step, lost };

  /// A step holds at least this many collectives; shorter repetitions are taken several at a time.
  static constexpr std::uint32_t kLeastPerStep = 6;
  static constexpr std::uint32_t kMostRemembered = 2048;
  static constexpr std::uint32_t kMostLasting = 4;  ///< repetitions that are known again
  static constexpr std::uint32_t kLasting = 8;      ///< steps after which a repetition is no accident
  static constexpr std::uint32_t kLastingCollectives =
      128;  ///< and collectives: a step of many layers gathers for one after the other

  /// The signature of each collective in turn. `step`: one repetition ended with the previous collective. `lost`: the sequence no
  /// longer repeats, and the search begins anew with twice the evidence asked for. Amortised constant cost.
  Mark on_collective(std::uint64_t signature);
  [[nodiscard]] bool locked() const { return locked_; }
  [[nodiscard]] std::uint32_t period() const { return repetition_.period; }
  /// Repetitions in a step.
  [[nodiscard]] std::uint32_t repetitions_per_step() const { return repetition_.step_length / repetition_.period; }
  /// Names the repetition, wherever in it the search began.
  [[nodiscard]] std::uint64_t pattern() const { return repetition_.pattern; }

 private:
  struct Repetition {
    std::uint64_t pattern = 0;
    std::uint32_t period = 0;       ///< 0: none
    std::uint32_t step_length = 0;  ///< collectives
  };
  struct Lasting {
    Repetition repetition;
    std::uint64_t recent = 0;  ///< sum of the mixed signatures of the last collectives, as many as a step has
  };

  void remember(std::uint64_t signature);
  void search_anew();
  void keep();
  void add_to_recent(Lasting& lasting, std::uint64_t signature) const;
  /// A repetition of which the last collectives are a step, or null.
  [[nodiscard]] const Lasting* known_again() const;
  void lock(const Repetition& repetition);

  std::array<std::uint64_t, kMostRemembered> signatures_{};
  std::array<std::uint16_t, kMostRemembered> border_{};  ///< longest proper border of each prefix (Knuth, Morris, Pratt)
  std::uint32_t count_ = 0;
  std::uint32_t limit_ = 64;
  std::uint32_t evidence_ = 24;
  Repetition repetition_;
  std::uint32_t at_ = 0;     ///< collectives since the last mark
  std::uint32_t steps_ = 0;  ///< since the repetition was found
  bool locked_ = false;
  std::uint32_t next_place_ = 0;  ///< for a lasting repetition, in turn
  std::array<Lasting, kMostLasting> lasting_{};
};

}  // namespace elbowroom::interposer
