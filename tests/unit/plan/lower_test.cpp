#include "elbowroom/plan/lower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/plan/program.hpp"
#include "unit/model/steps.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Step scenario_step(Pattern pattern, int iterations) {
  Scenario scenario;
  scenario.name = "case";
  scenario.iterations = iterations;
  scenario.pattern = pattern;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)};
  scenario.collective.bytes = mebibytes(64);
  return step_of(scenario);
}

/// Operation, repeat and lane of each launch with what it waits for: "1.0 on comm after 0 begun 2".
std::string in_line(const Program& program, std::size_t at) {
  const Launch& launch = program.launches[at];
  std::string line = std::to_string(launch.operation) + "." + std::to_string(launch.repeat) + " on " +
                     program.lanes[static_cast<std::size_t>(launch.lane)].name;
  for (const int before : launch.after) { line += " after " + std::to_string(before); }
  for (const int before : launch.after_begun) { line += " begun " + std::to_string(before); }
  return line;
}

std::vector<std::string> lines(const Program& program) {
  std::vector<std::string> made;
  for (std::size_t at = 0; at < program.launches.size(); ++at) { made.push_back(in_line(program, at)); }
  return made;
}

std::vector<std::string> lowered(const Step& step, Order order, const StepPlan& plan = {}) {
  return lines(*lower(step, order, plan));
}

OverlapPlan gated() {
  OverlapPlan plan;
  plan.launch_gate = true;
  return plan;
}

TEST(Lower, APipelineRunsCollectivesBesideTheNextComputation) {
  EXPECT_THAT(lowered(scenario_step(Pattern::pipeline, 2), Order::concurrent),
              ElementsAre("0.0 on compute", "1.0 on comm after 0", "0.1 on compute", "1.1 on comm after 2"));
}

TEST(Lower, APairWaitsForNothing) {
  EXPECT_THAT(lowered(scenario_step(Pattern::pair, 2), Order::concurrent),
              ElementsAre("0.0 on compute", "1.0 on comm", "0.1 on compute", "1.1 on comm"));
}

TEST(Lower, OtherOrdersHaveOneLane) {
  const Step step = scenario_step(Pattern::pipeline, 2);
  EXPECT_THAT(lowered(step, Order::sequential),
              ElementsAre("0.0 on compute", "1.0 on compute", "0.1 on compute", "1.1 on compute"));
  EXPECT_THAT(lowered(step, Order::compute_only), ElementsAre("0.0 on compute", "0.1 on compute"));
  EXPECT_THAT(lowered(step, Order::comm_only), ElementsAre("1.0 on comm", "1.1 on comm"));
}

TEST(Lower, TheGateHoldsTheNextComputationBeside) {
  // Collective 0 runs beside compute 1, collective 1 beside compute 2; nothing is launched after the last one.
  EXPECT_THAT(lowered(scenario_step(Pattern::pipeline, 3), Order::concurrent, gated()),
              ElementsAre("0.0 on compute", "1.0 on comm after 0", "0.1 on compute begun 1", "1.1 on comm after 2",
                          "0.2 on compute begun 3", "1.2 on comm after 4"));
  EXPECT_THAT(lowered(scenario_step(Pattern::pipeline, 1), Order::concurrent, gated()),
              ElementsAre("0.0 on compute", "1.0 on comm after 0"));
  EXPECT_THAT(
      lowered(scenario_step(Pattern::pipeline, 3), Order::sequential, gated()),
      ElementsAre("0.0 on compute", "1.0 on compute", "0.1 on compute", "1.1 on compute", "0.2 on compute", "1.2 on compute"));
}

TEST(Lower, TheGateHoldsOneComputationOfEachLane) {
  // Both computations of the next layer run beside the sum of the first; the third follows one of them.
  Step step;
  step.operations = {compute_operation("a"), comm_operation("sum", {{0, false}}), compute_operation("b", {{0, false}}),
                     compute_operation("c", {{0, false}}), compute_operation("d", {{3, false}})};
  step.operations[3].lane = step.operations[4].lane = "side";
  EXPECT_THAT(
      lowered(step, Order::concurrent, gated()),
      ElementsAre("0.0 on compute", "1.0 on comm after 0", "2.0 on compute begun 1", "3.0 on side after 0 begun 1", "4.0 on side"));
}

TEST(Lower, WhatIsLeftOutHandsOnWhatItWaitsFor) {
  // b waits for the sum, which waits for a on another lane: alone, b waits for a.
  Step step;
  step.operations = {compute_operation("a"), comm_operation("sum", {{0, false}}), compute_operation("b", {{1, false}})};
  step.operations[2].lane = "side";
  EXPECT_THAT(lowered(step, Order::compute_only), ElementsAre("0.0 on compute", "2.0 on side after 0"));
}

TEST(Lower, AnEdgeMayComeFromTheRepeatBefore) {
  Step step;
  step.repeats = 2;
  step.operations = {compute_operation("a", {{1, true}}), comm_operation("sum", {{0, false}})};
  EXPECT_THAT(lowered(step, Order::concurrent),
              ElementsAre("0.0 on compute", "1.0 on comm after 0", "0.1 on compute after 1", "1.1 on comm after 2"));
}

TEST(Lower, WaitsForTheLatestOfALaneAlone) {
  Step step;
  step.operations = {compute_operation("a"), compute_operation("b"), comm_operation("sum", {{0, false}, {1, false}})};
  EXPECT_THAT(lowered(step, Order::concurrent), ElementsAre("0.0 on compute", "1.0 on compute", "2.0 on comm after 1"));
}

TEST(Lower, RanksThatDoNotMeetAreNotOrdered) {
  // The back computes after what it receives, and so beside what the front computes next.
  Step step = two_stages();
  step.repeats = 2;
  OverlapPlan plan = gated();
  plan.windows_only = true;
  plan.pad = Bytes(1'024);
  const Program program = *lower(step, Order::concurrent, plan);
  // front 1 runs beside act 0, back 0 beside act 1 at the earliest; front 0 and back 1 beside nothing.
  EXPECT_THAT(lines(program), ElementsAre("0.0 on compute", "1.0 on comm after 0", "2.0 on compute after 1",
                                          "0.1 on compute begun 1", "1.1 on comm after 3", "2.1 on compute after 4"));
  const auto pad = [&](std::size_t at) { return std::get<ComputeSettings>(program.launches[at].settings).pad; };
  EXPECT_EQ(pad(0), Bytes(0));
  EXPECT_EQ(pad(2), Bytes(1'024));
  EXPECT_EQ(pad(3), Bytes(1'024));
  EXPECT_EQ(pad(5), Bytes(0));
}

OverlapPlan everything() {
  OverlapPlan plan;
  plan.pad = Bytes(27'264);
  plan.priority = true;
  plan.carveout = Percent(50);
  plan.sm_target = Sms(100);
  plan.comm_sms = Sms(16);
  plan.comm_blocks = Blocks(8);
  plan.comm_threads = Threads(256);
  plan.symmetric = plan.copy_engine = plan.peer_detour = true;
  return plan;
}

TEST(Lower, LaunchesCarryThePlan) {
  const Program program = *lower(scenario_step(Pattern::pipeline, 2), Order::concurrent, everything());
  const ComputeSettings compute{Bytes(27'264), Sms(100), Percent(50)};
  const CommSettings comm{Blocks(8), std::nullopt, Threads(256), true, true, true};
  for (std::size_t at = 0; at < 4; ++at) {
    if (at % 2 == 0) {
      EXPECT_EQ(std::get<ComputeSettings>(program.launches[at].settings), compute);
    } else {
      EXPECT_EQ(std::get<CommSettings>(program.launches[at].settings), comm);
    }
  }
  EXPECT_THAT(program.lanes, ElementsAre(Lane{"compute", false, Sms(16)}, Lane{"comm", true, std::nullopt}));
}

TEST(Lower, OutsideOfWindowsOnlyWhatIsFixedRemains) {
  Step step = scenario_step(Pattern::pipeline, 3);
  std::get<Collective>(step.operations[1].what).comm_blocks = Blocks(12);
  std::get<Collective>(step.operations[1].what).cluster = 2;
  OverlapPlan plan = everything();
  plan.windows_only = true;
  const Program program = *lower(step, Order::concurrent, plan);
  // The first computation runs on the whole device; the second goes on in the partition behind it.
  EXPECT_THAT(lines(program), ElementsAre("0.0 on compute", "1.0 on comm after 0", "0.1 on compute after 0", "1.1 on comm after 2",
                                          "0.2 on compute", "1.2 on comm after 4"));
  EXPECT_THAT(program.lanes,
              ElementsAre(Lane{"compute", false, std::nullopt}, Lane{"comm", true, std::nullopt}, Lane{"compute", false, Sms(16)}));
  EXPECT_EQ(std::get<ComputeSettings>(program.launches[0].settings), ComputeSettings());
  EXPECT_EQ(std::get<ComputeSettings>(program.launches[2].settings).pad, Bytes(27'264));
  EXPECT_EQ(std::get<CommSettings>(program.launches[3].settings).comm_blocks, Blocks(8));
  EXPECT_EQ(std::get<CommSettings>(program.launches[5].settings), (CommSettings{Blocks(12), 2, Threads(256), false, false, false}));
  // Where nothing overlaps by order, a plan means all launches.
  const Program alone = *lower(step, Order::compute_only, plan);
  for (const Launch& launch : alone.launches) { EXPECT_EQ(std::get<ComputeSettings>(launch.settings).pad, Bytes(27'264)); }
}

TEST(Lower, TheScenariosBudgetHoldsWhereAPlanSaysNothing) {
  Step step = scenario_step(Pattern::pipeline, 1);
  std::get<Collective>(step.operations[1].what).comm_blocks = Blocks(8);
  const Program program = *lower(step, Order::comm_only, {});
  EXPECT_EQ(std::get<CommSettings>(program.launches[0].settings).comm_blocks, Blocks(8));
}

TEST(Lower, AnOperationMayHaveItsOwnPlan) {
  StepPlan plan{everything()};
  plan.own[1] = {};
  const Program program = *lower(scenario_step(Pattern::pipeline, 1), Order::concurrent, plan);
  EXPECT_EQ(std::get<ComputeSettings>(program.launches[0].settings).pad, Bytes(27'264));
  EXPECT_EQ(std::get<CommSettings>(program.launches[1].settings), CommSettings());
  EXPECT_FALSE(program.lanes[1].urgent);
}

std::string windows_refusal(const Step& step) {
  OverlapPlan plan;
  plan.windows_only = true;
  const Result<Program> program = lower(step, Order::concurrent, plan);
  return program ? "" : program.error().message;
}

TEST(Lower, WindowsArePossibleWhereBothKindsOfLaunchExist) {
  EXPECT_EQ(windows_refusal(scenario_step(Pattern::pipeline, 1)), "windows_only: no computation can run beside a communication");
  EXPECT_EQ(windows_refusal(scenario_step(Pattern::pipeline, 2)), "");
  EXPECT_EQ(windows_refusal(scenario_step(Pattern::pair, 2)), "windows_only: both sides run at once from the beginning to the end");
  EXPECT_TRUE(windows_possible(scenario_step(Pattern::pipeline, 2)));
  EXPECT_FALSE(windows_possible(scenario_step(Pattern::pipeline, 1)));
}

TEST(Lower, ASideThatIsNotThereIsRefused) {
  Step step;
  step.operations = {compute_operation("a")};
  const Result<Program> refused = lower(step, Order::comm_only, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "comm_only: the step has no operation of that side");
}

}  // namespace
}  // namespace elbowroom
