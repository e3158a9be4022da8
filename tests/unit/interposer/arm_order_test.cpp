#include "interposer/core/arm_order.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "interposer/core/table.hpp"

namespace elbowroom::interposer {
namespace {

constexpr unsigned kArms = ArmOrder::kArms;
constexpr unsigned kRounds = ArmOrder::kRounds;

ArmOrder drawn(std::uint64_t seed) {
  ArmOrder order;
  order.draw(seed);
  return order;
}

/// A bit for each round that has the first arm before the second.
unsigned rounds_with_first_before(const ArmOrder& order, unsigned first, unsigned second) {
  unsigned rounds = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    rounds |= (order.place_of(round, first) < order.place_of(round, second) ? 1U : 0U) << round;
  }
  return rounds;
}

RC_GTEST_PROP(ArmOrderProperty, EachRoundHasEachArmOnce, (std::uint64_t seed)) {
  const ArmOrder order = drawn(seed);
  for (unsigned round = 0; round < kRounds; ++round) {
    for (unsigned arm = 0; arm < kArms; ++arm) { RC_ASSERT(order.arm_at(round, order.place_of(round, arm)) == arm); }
  }
}

// Forth and back: over all rounds each arm's places are 0 + 3, 1 + 2, 2 + 1 or 3 + 0, four times.
RC_GTEST_PROP(ArmOrderProperty, ASteadyDriftWeighsOnAllArmsAlike, (std::uint64_t seed)) {
  const ArmOrder order = drawn(seed);
  for (unsigned arm = 0; arm < kArms; ++arm) {
    unsigned places = 0;
    for (unsigned round = 0; round < kRounds; ++round) { places += order.place_of(round, arm); }
    RC_ASSERT(places == 4U * 3U);
  }
}

// Four of eight rounds have arm 0 before arm 1: 70 ways, each as likely. So 7,000 seeds give each of them 100 times, with a
// standard deviation of 10. Repetitions are hashes, and trials of one count from 0.
TEST(ArmOrder, OfTwoArmsEachOfSeventyOrdersIsAsLikely) {
  for (const bool one_repetition : {false, true}) {
    std::array<int, 1U << kRounds> times{};
    for (std::uint64_t i = 0; i < 7'000; ++i) {
      const std::uint64_t seed = one_repetition ? combine(1, i) : combine(combine(i, 9), 0);
      ++times[rounds_with_first_before(drawn(seed), 0, 1)];
    }
    EXPECT_EQ(std::count_if(times.begin(), times.end(), [](int n) { return n > 0; }), 70);
    EXPECT_LE(*std::max_element(times.begin(), times.end()), 150);
    int unlikely = 0;
    for (const int n : times) { unlikely += n > 0 && n < 50 ? 1 : 0; }
    EXPECT_EQ(unlikely, 0);
  }
}

}  // namespace
}  // namespace elbowroom::interposer
