#include "headroom/tune/verdict.hpp"

#include <gtest/gtest.h>

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

TEST(Confirm, KeepsThePlainSchemeWhenTheTimesAreTheSame) {
  EXPECT_EQ(confirm(kWinner, times(100, 0), kPlain, times(100, 0), 1)->chosen, kPlain);
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
