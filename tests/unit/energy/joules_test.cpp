#include "elbowroom/energy/joules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom {
namespace {

using ::testing::HasSubstr;

constexpr Microseconds seconds(double count) { return Microseconds(count * 1e6); }

CounterReading reading(double at, std::int64_t millijoules, std::optional<double> watts = std::nullopt) {
  return {seconds(at), Millijoules(millijoules), watts ? std::optional(Watts{*watts}) : std::nullopt};
}

/// A GPU of constant power, sampled every 0.05 s from 0 to `until`; its counter moves every 0.1 s.
Samples steady(double watts, double until) {
  Samples samples;
  for (int at = 0; at * 0.05 <= until; ++at) {
    samples.push_back(reading(at * 0.05, static_cast<std::int64_t>(at / 2 * 0.1 * watts * 1000), watts));
  }
  return samples;
}

/// Runs of 0.5 s with nothing between them, from 0 to 12 s.
std::vector<RunSpan> runs_of_half_a_second() {
  std::vector<RunSpan> runs;
  for (int run = 0; run < 24; ++run) { runs.push_back({seconds(run * 0.5), seconds(run * 0.5 + 0.5)}); }
  return runs;
}

TEST(Updates, AreTheSamplesAtWhichTheCounterMoved) {
  const Result<Samples> updates = updates_of({reading(0, 7), reading(1, 7), reading(2, 9), reading(3, 9), reading(4, 12)});
  ASSERT_TRUE(updates);
  ASSERT_EQ(updates->size(), 3U);
  EXPECT_EQ((*updates)[1].at, seconds(2));
  EXPECT_EQ((*updates)[2].energy, Millijoules(12));
}

TEST(Updates, GoOnBehindAWrapOf32Bits) {
  // 4294967295 is the greatest of 32 bits: from 4294967000 to 704 it is 296 + 704 = 1000 mJ, in a second 1 W.
  const Result<Samples> updates = updates_of({reading(0, 4'294'967'000), reading(1, 704), reading(2, 1704)});
  ASSERT_TRUE(updates);
  EXPECT_EQ(updates->back().energy, Millijoules(4'294'967'000 + 2000));
}

TEST(Updates, OfACounterThatFellAreRefused) {
  // As a wrap it would be 4294967296 - 999900 mJ in a second: 4.3 MW.
  const Result<Samples> updates = updates_of({reading(0, 1'000'000), reading(1, 100)});
  ASSERT_FALSE(updates);
  EXPECT_EQ(updates.error().kind, ErrorKind::failed);
  EXPECT_THAT(updates.error().message, HasSubstr("fell from 1000000 to 100 mJ"));
}

TEST(Updates, OfACounterThatJumpedAreRefused) {
  // 1 MJ in 20 ms is 50 MW; 70 J in 20 ms, 700 W for the 100 ms between two moves, count.
  const Samples jumped{{Microseconds(0), Millijoules(0)}, {Microseconds(20'000), Millijoules(1'000'000'000)}};
  EXPECT_EQ(updates_of(jumped).error().message, "the energy counter rose by 1000000000 mJ in 20 ms, which no GPU takes");
  const Samples moved{{Microseconds(0), Millijoules(0)}, {Microseconds(20'000), Millijoules(70'000)}};
  EXPECT_TRUE(updates_of(moved));
}

TEST(Period, IsTheMedianGapWithoutTheFirst) {
  // The first sample is no update: gaps of 0.1, 0.1, 0.3 s remain.
  const Samples updates{reading(0, 0), reading(0.01, 1), reading(0.11, 2), reading(0.21, 3), reading(0.51, 4)};
  EXPECT_NEAR(period_of(updates)->count(), 1e5, 1e-6);
  EXPECT_FALSE(period_of({reading(0, 0), reading(1, 1)}));
}

TEST(Counted, LiesOnALineBetweenUpdates) {
  // 100 mJ at 1 s and 300 mJ at 2 s: 150 at 1.25 s. 300 at 2 s and 700 at 3 s: 500 at 2.5 s. Between: 350 mJ.
  const Samples updates{reading(1, 100), reading(2, 300), reading(3, 700)};
  EXPECT_NEAR(counted_between(updates, seconds(1.25), seconds(2.5))->value, 0.35, 1e-12);
  EXPECT_FALSE(counted_between(updates, seconds(0.5), seconds(2)));
  EXPECT_FALSE(counted_between(updates, seconds(1.5), seconds(3.5)));
}

TEST(Integrated, IsTheTrapezoidsOfPower) {
  // 100 W at 0 s, 200 W at 1 s, 100 W at 2 s. From 0.5 s (150 W) to 1.5 s (150 W): two trapezoids of half a second at 175 W: 175 J.
  const Samples samples{reading(0, 0, 100), reading(1, 0, 200), reading(2, 0, 100)};
  EXPECT_NEAR(integrated_between(samples, seconds(0.5), seconds(1.5))->value, 175, 1e-9);
  EXPECT_FALSE(integrated_between({reading(0, 0, 100), reading(1, 0)}, seconds(0), seconds(1)));
}

TEST(Iterations, OfARunUnderWayCountByItsTime) {
  // Runs of 8 iterations from 1 to 2 s and from 3 to 5 s.
  const std::vector<RunSpan> runs{{seconds(1), seconds(2)}, {seconds(3), seconds(5)}};
  EXPECT_EQ(iterations_at(runs, 8, seconds(0.5)), 0);
  EXPECT_NEAR(iterations_at(runs, 8, seconds(1.25)), 2, 1e-9);
  EXPECT_NEAR(iterations_at(runs, 8, seconds(2.5)), 8, 1e-9);
  EXPECT_NEAR(iterations_at(runs, 8, seconds(3.5)), 10, 1e-9);
  EXPECT_NEAR(iterations_at(runs, 8, seconds(9)), 16, 1e-9);
}

TEST(JoulesPerIteration, OfTwoSteadyGpus) {
  // 300 W and 100 W for 10 s are 4000 J. Runs of 0.5 s with 4 iterations: 80 iterations, 50 J each. The counter moves every 0.1 s:
  // the ends are off by 0.1 / 10. All parts are alike, so that the interval is the resolution alone: 50 +- 0.5 J.
  const std::vector<Samples> samples{steady(300, 12), steady(100, 12)};
  const Result<JoulesPerIteration> energy = joules_per_iteration(samples, runs_of_half_a_second(), 4, seconds(1), seconds(11));
  ASSERT_TRUE(energy) << energy.error().message;
  EXPECT_NEAR(energy->joules.value, 50, 1e-6);
  EXPECT_NEAR(energy->iterations, 80, 1e-6);
  EXPECT_NEAR(energy->length.count(), 125'000, 1e-3);
  EXPECT_NEAR(energy->resolution, 0.01, 1e-6);
  EXPECT_NEAR(energy->low.value, 49.5, 1e-4);
  EXPECT_NEAR(energy->high.value, 50.5, 1e-4);
  EXPECT_NEAR(*energy->counter_over_power, 1, 1e-6);
}

TEST(JoulesPerIteration, HasAnIntervalByTheScatterOfItsParts) {
  // Parts of 1 s, in turns 10 J and 12 J: 110 J in 20 runs of one iteration, 5.5 J each. Of a part an iteration takes 5 or 6 J: the
  // standard deviation of ten such is sqrt(10 * 0.25 / 9) = 0.52705, the half width 2.262 * 0.52705 / sqrt(10) = 0.37700. The
  // counter moves every 0.25 s: 0.25 / 10 of 5.5 J are 0.1375. Together 0.5145.
  Samples samples{reading(0, 0)};
  std::int64_t energy = 0;
  for (int quarter = 1; quarter <= 48; ++quarter) {
    energy += ((quarter - 1) / 4) % 2 == 0 ? 3000 : 2500;
    samples.push_back(reading(quarter * 0.25, energy));
  }
  const Result<JoulesPerIteration> found =
      joules_per_iteration(std::vector<Samples>{samples}, runs_of_half_a_second(), 1, seconds(1), seconds(11));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NEAR(found->joules.value, 5.5, 1e-9);
  EXPECT_NEAR(found->low.value, 5.5 - 0.5145, 1e-4);
  EXPECT_NEAR(found->high.value, 5.5 + 0.5145, 1e-4);
  EXPECT_FALSE(found->counter_over_power);
}

TEST(JoulesPerIteration, IsRefusedWhereTheCounterMovesTooRarely) {
  const std::vector<Samples> samples{steady(300, 12)};
  const Result<JoulesPerIteration> energy = joules_per_iteration(samples, runs_of_half_a_second(), 4, seconds(1), seconds(2.5));
  ASSERT_FALSE(energy);
  EXPECT_THAT(energy.error().message, HasSubstr("times in 1.5 s, expected at least 20"));
}

TEST(JoulesPerIteration, IsRefusedWhereLessThanTwoRunsFit) {
  const std::vector<RunSpan> runs{{seconds(0), seconds(6)}, {seconds(6), seconds(12)}};
  const Result<JoulesPerIteration> energy =
      joules_per_iteration(std::vector<Samples>{steady(300, 12)}, runs, 1, seconds(1), seconds(11));
  ASSERT_FALSE(energy);
  EXPECT_THAT(energy.error().message, HasSubstr("holds 1.7 runs, expected at least 2"));
}

TEST(MeanPower, IsThatOfAllGpus) {
  EXPECT_NEAR(mean_power(std::vector<Samples>{steady(70, 4), steady(80, 4)}, seconds(1), seconds(3))->value, 150, 1e-6);
}

}  // namespace
}  // namespace elbowroom
