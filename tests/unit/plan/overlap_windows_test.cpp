#include "elbowroom/plan/overlap_windows.hpp"

#include <gtest/gtest.h>

namespace elbowroom {
namespace {

TEST(OverlapWindows, LeaveOutTheEndsOfAPipelineAndNothingOfAPair) {
  // Of three iterations: compute 1 and 2 run beside collective 0 and 1.
  EXPECT_FALSE(compute_in_window(Pattern::pipeline, 0));
  EXPECT_TRUE(compute_in_window(Pattern::pipeline, 1));
  EXPECT_TRUE(compute_in_window(Pattern::pipeline, 2));
  EXPECT_TRUE(comm_in_window(Pattern::pipeline, 0, 3));
  EXPECT_TRUE(comm_in_window(Pattern::pipeline, 1, 3));
  EXPECT_FALSE(comm_in_window(Pattern::pipeline, 2, 3));
  EXPECT_TRUE(compute_in_window(Pattern::pair, 0));
  EXPECT_TRUE(comm_in_window(Pattern::pair, 0, 1));
}

TEST(OverlapWindows, OutsideOnlyWhatIsFixedRemains) {
  OverlapPlan plan;
  plan.blocks_per_sm = BlocksPerSm(4);
  plan.pad = Bytes(27264);
  plan.priority = plan.launch_gate = true;
  plan.comm_blocks = Blocks(8);
  plan.comm_threads = Threads(256);
  Collective collective;
  EXPECT_EQ(outside_windows(plan, collective), plan);
  plan.windows_only = true;
  OverlapPlan outside;
  outside.comm_threads = Threads(256);
  EXPECT_EQ(outside_windows(plan, collective), outside);
  collective.comm_blocks = outside.comm_blocks = Blocks(12);
  collective.cluster = outside.cluster = 2;
  EXPECT_EQ(outside_windows(plan, collective), outside);
}

TEST(OverlapWindows, ArePossibleWhereBothKindsOfLaunchExist) {
  Scenario scenario;
  scenario.pattern = Pattern::pipeline;
  scenario.iterations = 1;
  EXPECT_TRUE(windows_possible({}, scenario));
  OverlapPlan plan;
  plan.windows_only = true;
  const Status refused = windows_possible(plan, scenario);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "windows_only: nothing runs beside anything in one iteration of a pipeline");
  scenario.iterations = 2;
  EXPECT_TRUE(windows_possible(plan, scenario));
}

}  // namespace
}  // namespace elbowroom
