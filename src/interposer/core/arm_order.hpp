#pragma once

#include <array>
#include <cstdint>

namespace elbowroom::interposer {

/// The order in which a trial runs its arms, drawn for each round. Rounds come in pairs: the second runs back what the first ran
/// forth, so that a steady drift of the machine weighs on all arms alike. Chance says which rounds are a pair. So comparisons that
/// run at the same time in processes with other seeds are hardly ever in the same order: of two arms one time in seventy, and one
/// in seventy the other way round. Deterministic: equal seeds give equal orders.
class ArmOrder {
 public:
  static constexpr unsigned kArms = 4;
  static constexpr unsigned kRounds = 8;

  void draw(std::uint64_t seed);

  /// `round` below kRounds; `place` and the arm below kArms.
  [[nodiscard]] unsigned arm_at(unsigned round, unsigned place) const { return rounds_[round][place]; }
  [[nodiscard]] unsigned place_of(unsigned round, unsigned arm) const;

 private:
  std::array<std::array<std::uint8_t, kArms>, kRounds> rounds_{};
};

}  // namespace elbowroom::interposer
