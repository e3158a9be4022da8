#include "elbowroom/tune/verdict.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace elbowroom {
namespace {

const Candidate kBaseline{Scheme::priority, {}, {RoomMaking::order_only}, std::nullopt};
const Candidate kWinner{Scheme::tuned, {}, {RoomMaking::sm_split, SmShares{Sms(108), Sms(24)}}, std::nullopt};

Result<Verdict> confirm(const std::vector<Microseconds>& winner, const std::vector<Microseconds>& plain, std::uint64_t seed = 1) {
  return confirm(std::vector<Finalist>{{kWinner, winner}}, {kBaseline, plain}, seed);
}

std::vector<Microseconds> times(double base, double step) {
  std::vector<Microseconds> made;
  for (int at = 0; at < 8; ++at) { made.emplace_back(base + step * at); }
  return made;
}

TEST(Confirm, KeepsAWinnerThatIsBetterInEveryRound) {
  const Result<Verdict> verdict = confirm(times(80, 0), times(100, 0));
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->chosen, kWinner);
  EXPECT_EQ(verdict->time, Microseconds(80));
  EXPECT_EQ(verdict->reason, "20.0 % less time than priority, SM split 108 + 24");
}

TEST(Confirm, KeepsTheBaselineWhenTheDifferenceIsNoise) {
  // 99, 100 ... 106 against 100 ... 107 in the opposite order: the median is less, the interval holds 1.
  const Result<Verdict> verdict = confirm(times(99, 1), times(107, -1));
  ASSERT_TRUE(verdict.ok());
  EXPECT_LT(verdict->ratio.median, 1);
  EXPECT_EQ(verdict->chosen, kBaseline);
  EXPECT_EQ(verdict->reason.rfind("priority kept: no control takes 0.990 of its time (", 0), 0U) << verdict->reason;
}

// 0.2 % is there in every round, and still no reason to do anything; 0.4 % is.
TEST(Confirm, KeepsTheBaselineWhenTheGainIsTooSmallToCarryOver) {
  const Result<Verdict> verdict = confirm(times(998, 0), times(1000, 0));
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->chosen, kBaseline);
  EXPECT_EQ(verdict->reason, "priority kept: no control takes 0.998 of its time, less than 0.3 % saved");
  EXPECT_EQ(confirm(times(996, 0), times(1000, 0))->chosen, kWinner);
}

TEST(Confirm, KeepsTheBaselineWhenTheTimesAreTheSame) { EXPECT_EQ(confirm(times(100, 0), times(100, 0))->chosen, kBaseline); }

/// Twelve times, as few as there ever are, of which about a third are 105 and the others 100.
std::vector<Microseconds> two_modes(std::mt19937_64& random) {
  std::vector<Microseconds> made;
  for (int at = 0; at < 12; ++at) {
    const bool slow = random() % 3 == 0;
    made.emplace_back((slow ? 105 : 100) + static_cast<double>(random() % 1000) * 1e-3);
  }
  return made;
}

/// How many of `trials` searches take one of `finalists` that are no better than the baseline.
int false_gains(std::size_t finalists, std::uint64_t trials) {
  std::mt19937_64 random(1);
  int gains = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    std::vector<Finalist> equal;
    while (equal.size() < finalists) { equal.push_back({kWinner, two_modes(random)}); }
    gains += confirm(equal, {kBaseline, two_modes(random)}, trial)->chosen == kWinner ? 1 : 0;
  }
  return gains;
}

// 95 % promised, so 2.5 % may look faster, of 400 searches 10 with a standard error of 3.
TEST(Confirm, SeldomTakesChanceForAGain) { EXPECT_LE(false_gains(1, 400), 19); }

// Also of 800 pairs no more than 20: with 95 % for each of two it would be half as many again as it is.
TEST(Confirm, SeldomTakesChanceForAGainOfTwo) { EXPECT_LE(false_gains(2, 800), 20); }

// The first one, 90 or 106, has two modes, so that its interval holds 1; the second always saves 5 %.
TEST(Confirm, TakesTheSteadyOneWhereTheOtherHasTwoModes) {
  const Candidate steady{Scheme::tuned, {}, {RoomMaking::copy_engines_detour}, std::nullopt};
  std::vector<Microseconds> two_modes;
  for (int at = 0; at < 12; ++at) { two_modes.emplace_back(at % 2 == 0 ? 90 : 106); }
  const std::vector<Microseconds> always(12, Microseconds(95));
  const std::vector<Microseconds> plain(12, Microseconds(100));
  const Result<Verdict> verdict = confirm(std::vector<Finalist>{{kWinner, two_modes}, {steady, always}}, {kBaseline, plain}, 1);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->chosen, steady);
  EXPECT_EQ(verdict->time, Microseconds(95));
  EXPECT_EQ(verdict->ratio.confidence, 0.975);
}

TEST(Confirm, TakesTheFasterOfTwoThatAreBetter) {
  const Candidate faster{Scheme::tuned, {}, {RoomMaking::order_only}, std::nullopt};
  EXPECT_EQ(confirm(std::vector<Finalist>{{kWinner, times(90, 0)}, {faster, times(80, 0)}}, {kBaseline, times(100, 0)}, 1)->chosen,
            faster);
}

TEST(Confirm, NamesTheLikeliestWhereNoneIsBetter) {
  const Candidate other{Scheme::tuned, {}, {RoomMaking::order_only}, std::nullopt};
  const Result<Verdict> verdict =
      confirm(std::vector<Finalist>{{kWinner, times(110, 0)}, {other, times(120, 0)}}, {kBaseline, times(100, 0)}, 1);
  EXPECT_EQ(verdict->chosen, kBaseline);
  EXPECT_EQ(verdict->time, Microseconds(100));
  EXPECT_EQ(verdict->reason, "priority kept: no control takes 1.100 of its time, not less beyond noise");
}

TEST(Confirm, NeedsPairs) { EXPECT_FALSE(confirm(times(100, 0), {}).ok()); }

TEST(Confirm, NeedsAFinalist) {
  const Result<Verdict> verdict = confirm(std::vector<Finalist>{}, {kBaseline, times(100, 0)}, 1);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().message, "finalists: none, expected at least one");
}

// Half of 60 s holds 3,000 rounds of 10 ms, 15 of 2 s and 3 of 10 s; at most 144 and at least 12 are run.
TEST(ConfirmingRounds, AsManyAsHalfTheBudgetHolds) {
  constexpr std::chrono::duration<double> kTimeLimit(60);
  EXPECT_EQ(confirming_rounds(Microseconds(10e3), kTimeLimit), 144);
  EXPECT_EQ(confirming_rounds(Microseconds(2e6), kTimeLimit), 15);
  EXPECT_EQ(confirming_rounds(Microseconds(10e6), kTimeLimit), 12);
  EXPECT_EQ(confirming_rounds(Microseconds(0), kTimeLimit), 144);
}

}  // namespace
}  // namespace elbowroom
