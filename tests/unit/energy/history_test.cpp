#include "elbowroom/energy/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace elbowroom {
namespace {

using ::testing::ElementsAre;

constexpr Microseconds kPeriod{100'000};

CounterReading reading(Microseconds at, std::int64_t millijoules) { return {at, Millijoules(millijoules)}; }

/// A counter of 300 W: 30 J in a period.
EnergyHistory steady(int moves) {
  EnergyHistory history;
  for (int move = 0; move < moves; ++move) { history.add(reading(kPeriod * move, 30'000LL * move)); }
  return history;
}

TEST(EnergyHistory, KeepsMovesAlone) {
  EnergyHistory history;
  EXPECT_TRUE(history.moves().empty());
  EXPECT_FALSE(history.last_move());
  for (const auto& [at, energy] : {std::pair(0, 5), {20, 5}, {40, 8}, {60, 8}, {80, 9}}) {
    history.add(reading(Microseconds(at), energy));
  }
  ASSERT_EQ(history.moves().size(), 3U);
  EXPECT_EQ(history.moves()[1].at, Microseconds(40));
  EXPECT_EQ(history.last_move(), Microseconds(80));
}

// A day of moves ten times a second: 864,000 of them.
TEST(EnergyHistory, IsBoundedHoweverLongARunIs) {
  constexpr int moves = 864'000;
  const EnergyHistory history = steady(moves);
  const Samples kept = history.moves();
  EXPECT_LE(kept.size(), EnergyHistory::kMostMoves);
  EXPECT_GT(kept.size(), EnergyHistory::kMostMoves / 2 - 1);
  EXPECT_EQ(kept.front().at, Microseconds(0));
  EXPECT_EQ(kept.back().at, kPeriod * (moves - 1));
  EXPECT_EQ(history.first_moves().size(), EnergyHistory::kFirstMoves);
  // 128 moves apart: two hours in the middle hold 7,200 s of 300 W, and their ends are off by 12.8 of 7,200 s.
  const Microseconds begin{30'000.05e6};
  const Microseconds end = begin + Microseconds(7'200e6);
  const Result<JoulesPerIteration> energy = joules_per_iteration(std::array{kept}, 3'600, begin, end);
  ASSERT_TRUE(energy) << energy.error().message;
  EXPECT_NEAR(energy->joules.value, 600, 1e-6);
  EXPECT_NEAR(energy->resolution, 12.8 / 7'200, 1e-9);
}

TEST(EnergyHistory, PutsTogetherHowAGpuStood) {
  EnergyHistory history;
  history.add(Microseconds(1), GpuState{41, 1980, {}, 1});
  history.add(Microseconds(2), GpuState{55, 1755, {"power cap"}, 2});
  history.add(Microseconds(3), GpuState{std::nullopt, std::nullopt, {"power cap", "heat, by software"}, 1});
  history.add(Microseconds(4), GpuState{80, 300, {"power brake"}, 9});
  const GpuConditions some = history.conditions(Microseconds(1), Microseconds(3));
  EXPECT_EQ(some.celsius, 55);
  EXPECT_EQ(some.least_sm_mhz, 1755);
  EXPECT_EQ(some.greatest_sm_mhz, 1980);
  EXPECT_THAT(some.below_greatest_clock, ElementsAre("power cap", "heat, by software"));
  EXPECT_EQ(some.processes, 2);
  EXPECT_FALSE(history.conditions(Microseconds(10), Microseconds(11)).celsius);
}

// What is put together in a long run loses nothing: the one reason of 5,000 states is still there.
TEST(EnergyHistory, LosesNoReasonInALongRun) {
  EnergyHistory history;
  for (int at = 0; at < 5'000; ++at) {
    GpuState state{40, 1000 + at % 7, {}, 1};
    if (at == 2'345) { state.below_greatest_clock = {"power cap"}; }
    history.add(Microseconds(at), state);
  }
  const GpuConditions all = history.conditions(Microseconds(0), Microseconds(5'000));
  EXPECT_THAT(all.below_greatest_clock, ElementsAre("power cap"));
  EXPECT_EQ(all.greatest_sm_mhz, 1006);
}

}  // namespace
}  // namespace elbowroom
