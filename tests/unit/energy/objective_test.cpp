#include "elbowroom/energy/objective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom {
namespace {

/// Intervals of 1 % to either side.
TimeAndEnergy schedule(double us, double joules) {
  return {Microseconds(us), Microseconds(us * 0.99), Microseconds(us * 1.01), {joules}, {joules * 0.99}, {joules * 1.01}};
}

TEST(Objective, IsReadAndNamed) {
  for (const char* name : {"time", "energy", "product"}) { EXPECT_EQ(to_string(*parse_objective(name)), name); }
  EXPECT_EQ(parse_objective("watts").error().message, "'watts', expected time, energy or product");
}

TEST(Objective, OfAProductMultipliesEnds) {
  const Valued value = value_of(Objective::product, schedule(100, 10));
  EXPECT_NEAR(value.value, 1000, 1e-9);
  EXPECT_NEAR(value.low, 980.1, 1e-9);    // 99 * 9.9
  EXPECT_NEAR(value.high, 1020.1, 1e-9);  // 101 * 10.1
}

TEST(Choice, DependsOnTheObjective) {
  // Beside (100 us, 10 J) the first is 10 % faster and takes 10 % more energy, the second the other way round by 12 %.
  const std::vector<TimeAndEnergy> baselines{schedule(120, 12), schedule(100, 10)};
  const std::vector<TimeAndEnergy> finalists{schedule(90, 11), schedule(112, 8.8)};
  for (const auto& [objective, finalist] : {std::pair(Objective::time, 0U), {Objective::energy, 1U}}) {
    const ObjectiveChoice choice = choose_by(objective, baselines, finalists);
    EXPECT_EQ(choice.baseline, 1U);
    EXPECT_EQ(choice.finalist, finalist);
  }
}

TEST(Choice, StaysWithTheBaselineWhereIntervalsMeet) {
  // Products: 1000, and 990 or 985.6; 985.6 ends at 1005.4, above where 1000 begins.
  const std::vector<TimeAndEnergy> baselines{schedule(100, 10)};
  EXPECT_FALSE(choose_by(Objective::product, baselines, std::vector{schedule(90, 11), schedule(112, 8.8)}).finalist);
  EXPECT_FALSE(choose_by(Objective::energy, baselines, {}).finalist);
}

TEST(Choice, IsToldWithItsCost) {
  const ObjectiveSides sides{schedule(102, 8.8), schedule(104, 9.9), schedule(100, 10)};
  EXPECT_EQ(in_words(Objective::energy, sides, {"shaped", "priority"}),
            "energy: 11.1 % less than shaped; beside priority, the fastest baseline: time +2.0 %, energy -12.0 %");
  const ObjectiveSides none{schedule(104, 9.9), schedule(104, 9.9), schedule(100, 10)};
  EXPECT_EQ(in_words(Objective::energy, none, {"shaped", "priority"}),
            "energy: no plan is beyond noise below shaped; beside priority, the fastest baseline: time +4.0 %, energy -1.0 %");
}

}  // namespace
}  // namespace elbowroom
