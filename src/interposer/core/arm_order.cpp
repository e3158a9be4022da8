#include "interposer/core/arm_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "interposer/core/table.hpp"

namespace elbowroom::interposer {
namespace {

/// Numbers in any order, each as likely. std::shuffle promises the same order on no two machines, and ranks must agree.
template <std::size_t kCount>
std::array<std::uint8_t, kCount> shuffled(std::uint64_t& seed) {
  std::array<std::uint8_t, kCount> numbers{};
  std::iota(numbers.begin(), numbers.end(), std::uint8_t{0});
  for (std::size_t left = kCount; left > 1; --left) {
    seed = combine(seed, left);
    std::swap(numbers[left - 1], numbers[seed % left]);
  }
  return numbers;
}

}  // namespace

void ArmOrder::draw(std::uint64_t seed) {
  const auto pairs = shuffled<kRounds>(seed);
  for (unsigned i = 0; i < kRounds; i += 2) {
    rounds_[pairs[i]] = shuffled<kArms>(seed);
    std::reverse_copy(rounds_[pairs[i]].begin(), rounds_[pairs[i]].end(), rounds_[pairs[i + 1]].begin());
  }
}

unsigned ArmOrder::place_of(unsigned round, unsigned arm) const {
  const auto& order = rounds_[round];
  return static_cast<unsigned>(std::find(order.begin(), order.end(), arm) - order.begin());
}

}  // namespace elbowroom::interposer
