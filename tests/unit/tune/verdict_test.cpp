#include "headroom/tune/verdict.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace headroom {
namespace {

const Candidate kPlain{Scheme::priority, {}, "order only", std::nullopt};
const Candidate kWinner{Scheme::tuned, {}, "SM split 108 + 24", std::nullopt};

std::vector<Microseconds> times(double base, double step) {
  std::vector<Microseconds> made;
  for (int at = 0; at < 8; ++at) made.emplace_back(base + step * at);
  return made;
}

TEST(Confirm, KeepsAWinnerThatIsBetterInEveryRound) {
  const Result<Verdict> verdict = confirm(kWinner, times(80, 0), kPlain, times(100, 0), 1);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->chosen, kWinner);
  EXPECT_EQ(verdict->reason, "20.0 % less time than priority (20.0 to 20.0), SM split 108 + 24");
}

TEST(Confirm, KeepsThePlainSchemeWhenTheDifferenceIsNoise) {
  // 99, 100 ... 106 against 100 ... 107 in the opposite order: the median is less, the interval holds 1.
  std::vector<Microseconds> plain = times(107, -1);
  const Result<Verdict> verdict = confirm(kWinner, times(99, 1), kPlain, plain, 1);
  ASSERT_TRUE(verdict.ok());
  EXPECT_LT(verdict->ratio.median, 1);
  EXPECT_EQ(verdict->chosen, kPlain);
  EXPECT_EQ(verdict->reason.rfind("priority kept: no control takes 0.990 of its time (", 0), 0U) << verdict->reason;
}

// 0.2 % is there in every round, and still no reason to do anything; 0.4 % is.
TEST(Confirm, KeepsThePlainSchemeWhenTheGainIsTooSmallToCarryOver) {
  const Result<Verdict> verdict = confirm(kWinner, times(998, 0), kPlain, times(1000, 0), 1);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->chosen, kPlain);
  EXPECT_EQ(verdict->reason, "priority kept: no control takes 0.998 of its time (0.998 to 0.998), less than 0.3 % saved");
  EXPECT_EQ(confirm(kWinner, times(996, 0), kPlain, times(1000, 0), 1)->chosen, kWinner);
}

TEST(Confirm, KeepsThePlainSchemeWhenTheTimesAreTheSame) {
  EXPECT_EQ(confirm(kWinner, times(100, 0), kPlain, times(100, 0), 1)->chosen, kPlain);
}

// Twelve rounds, as few as there ever are, of two sides with the same two modes: 95 % promised, so of 400 winners that are none 2.5 % may
// look faster, 10 with a standard error of 3.
TEST(Confirm, SeldomTakesChanceForAGain) {
  std::mt19937_64 random(1);
  const auto two_modes = [&] {
    std::vector<Microseconds> made;
    for (int at = 0; at < 12; ++at) {
      const bool slow = random() % 3 == 0;
      made.emplace_back((slow ? 105 : 100) + static_cast<double>(random() % 1000) * 1e-3);
    }
    return made;
  };
  int faster = 0;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    const std::vector<Microseconds> equal = two_modes();
    faster += confirm(kWinner, equal, kPlain, two_modes(), trial)->chosen == kWinner ? 1 : 0;
  }
  EXPECT_LE(faster, 19);
}

TEST(Confirm, NeedsPairs) { EXPECT_FALSE(confirm(kWinner, times(100, 0), kPlain, {}, 1).ok()); }

// Half of 60 s holds 3,000 rounds of 10 ms, 15 of 2 s and 3 of 10 s; at most 36 and at least 12 are run.
TEST(ConfirmingRounds, AsManyAsHalfTheBudgetHolds) {
  constexpr std::chrono::duration<double> kBudget(60);
  EXPECT_EQ(confirming_rounds(Microseconds(10e3), kBudget), 36);
  EXPECT_EQ(confirming_rounds(Microseconds(2e6), kBudget), 15);
  EXPECT_EQ(confirming_rounds(Microseconds(10e6), kBudget), 12);
  EXPECT_EQ(confirming_rounds(Microseconds(0), kBudget), 36);
}

}  // namespace
}  // namespace headroom
