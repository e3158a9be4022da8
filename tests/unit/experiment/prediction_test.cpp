#include "elbowroom/experiment/prediction.hpp"

#include <gtest/gtest.h>

#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using testing::simulator;
using testing::small_case;

Microseconds simulated(Scenario scenario, int iterations) {
  scenario.iterations = iterations;
  const auto backend = simulator();
  return *CaseTrials::prepare(*backend, scenario)->run(Order::concurrent, {});
}

TEST(Prediction, IsTheSimulatorsTime) {
  const Predictor predict = simulated_times(small_case(), *find_device("h200"));
  ASSERT_TRUE(predict);
  EXPECT_EQ(*predict(Scheme::concurrent, {}), simulated(small_case(), 2));
}

TEST(Prediction, OfALongPipelineGoesOnAsItRan) {
  Scenario scenario = small_case();
  scenario.iterations = 40;
  const Predictor predict = simulated_times(scenario, *find_device("h200"));
  ASSERT_TRUE(predict);
  const Microseconds sixteen = simulated(scenario, 16);
  const Microseconds eight = simulated(scenario, 8);
  // 24 iterations more than 16, at the pace of the last 8: three times what those took.
  EXPECT_DOUBLE_EQ(predict(Scheme::concurrent, {})->count(), (sixteen + (sixteen - eight) * 3).count());
}

TEST(Prediction, IsNotThereForDevicesThatNobodyKnows) {
  DeviceLimits unknown = *find_device("h200");
  unknown.name = "z9";
  unknown.facts.reset();
  EXPECT_FALSE(simulated_times(small_case(), unknown));
}

}  // namespace
}  // namespace elbowroom
