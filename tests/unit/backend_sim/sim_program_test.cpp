#include "backend_sim/sim_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "backend_sim/sim_workload.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/order_check.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "small_machine.hpp"
#include "unit/model/steps.hpp"

namespace elbowroom::sim {
namespace {

Task task_on(int lane, std::vector<int> after = {}) {
  Task task;
  task.kernel = lane;
  task.lane = lane;
  task.after = std::move(after);
  return task;
}

TEST(EngineOfManyLanes, TwoComputationsShareAnSm) {
  // Blocks of 10 us, two to an SM of whatever kernel: both kernels' single blocks run at once; four of each are four waves of two,
  // first come first: the first kernel's waves end at 10 and 20 us, the second's at 30 and 40.
  EXPECT_DOUBLE_EQ(run(machine(1), {kernel(compute(1)), kernel(compute(1))}, {task_on(0), task_on(1)}).end, 11);
  const EngineRun result = run(machine(1), {kernel(compute(4)), kernel(compute(4))}, {task_on(0), task_on(1)});
  EXPECT_DOUBLE_EQ(result.tasks[0].end, 20);
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 20);
  EXPECT_DOUBLE_EQ(result.end, 40);
}

TEST(EngineOfManyLanes, BlocksOfAnotherKernelSlowAsOwnOnesDo) {
  // A block takes 10 us alone and 14 beside another: begun 1 us later, the second block makes the first one's last 9 us take 12.6;
  // then it has done 12.6 of its own 14 and finishes the rest alone.
  ComputeProfile slowed = compute(1);
  slowed.tile_time = {10, 14};
  const EngineRun result = run(machine(1), {kernel(slowed), kernel(slowed)}, {task_on(0), task_on(1)});
  EXPECT_DOUBLE_EQ(result.tasks[0].end, 1 + 12.6);
  EXPECT_DOUBLE_EQ(result.tasks[1].end, 13.6 + 1.4 / 14 * 10);
}

TEST(EngineOfManyLanes, CollectivesShareTheLinks) {
  // One block of 1,000 B each, at most 100 B/us, over links of 100 B/us: together they ask for twice the links' rate, and get
  // 1 / (1 + 2^3)^(1/3) of it each; alone 1 / (1 + 1)^(1/3).
  CommProfile sending = comm(1);
  sending.startup = 0;
  sending.bytes = 1'000;
  sending.block_rate = sending.link_rate = 100;
  Machine two = machine(2);
  two.event_gap = 0;
  EXPECT_NEAR(run(two, {kernel(sending)}, {task_on(0)}).end, 10 * std::cbrt(2.0), 1e-9);
  EXPECT_NEAR(run(two, {kernel(sending), kernel(sending)}, {task_on(0), task_on(1)}).end, 10 * std::cbrt(9.0), 1e-9);
}

TEST(EngineOfManyLanes, CopiesAtOnceShareTheirRate) {
  // 5,000 B at 1,000 B/us, from 0 and from 1 us on: 4,000 B are left of the first, each gets 500 B/us; it ends at 9, the second, of
  // which 1,000 are left, at 10 us.
  Machine copying = machine(1);
  copying.copy_rate = 1'000;
  Task first = copy_launch(5'000);
  first.lane = 0;
  const EngineRun result = run(copying, std::vector<SimKernel>(), {first, copy_launch(5'000)});
  EXPECT_DOUBLE_EQ(result.tasks[0].end, 9);
  EXPECT_DOUBLE_EQ(result.tasks[1].end, 10);
}

TEST(EngineOfManyLanes, WhatTheHostLaunchesLateBeginsLate) {
  Task late = task_on(0);
  late.launched = 25;
  EXPECT_DOUBLE_EQ(run(machine(1), {kernel(compute(1))}, {task_on(0), late}).end, 35);
}

// Where all find room and nothing slows anything, times follow from lanes, edges, gates and gaps alone: the oracle is that
// recursion.
RC_GTEST_PROP(EngineProperty, OnAnEmptyDeviceTimesFollowFromOrder, ()) {
  Machine wide = machine(64);
  wide.launch_gap = *rc::gen::inRange(0, 3);
  std::vector<SimKernel> kernels;
  std::vector<Task> tasks;
  std::vector<TaskTimes> expected;
  double latest[4] = {-1, -1, -1, -1};
  const int count = *rc::gen::inRange(1, 16);
  for (int at = 0; at < count; ++at) {
    Task task;
    task.kernel = at;
    task.lane = *rc::gen::inRange(0, 4);
    task.launched = *rc::gen::element(0, 0, 30);
    const double takes = *rc::gen::inRange(1, 40);
    ComputeProfile computing = compute(1);
    computing.tile_time = {takes, takes};
    CommProfile communicating = comm(1);
    communicating.startup = takes;
    kernels.push_back(*rc::gen::arbitrary<bool>() ? kernel(computing) : kernel(communicating));
    double& before = latest[task.lane];
    double begin = std::max(before < 0 ? (task.lane > 0 ? wide.event_gap : 0) : before + wide.launch_gap, task.launched);
    for (int other = 0; other < at; ++other) {
      const int edge = *rc::gen::inRange(0, 6);
      if (tasks[static_cast<std::size_t>(other)].lane == task.lane || edge > 1) { continue; }
      (edge == 0 ? task.after : task.after_begun).push_back(other);
      const TaskTimes& times = expected[static_cast<std::size_t>(other)];
      begin = std::max(begin, (edge == 0 ? times.end : times.begin) + wide.event_gap);
    }
    expected.push_back({begin, begin, begin + takes});
    before = begin + takes;
    tasks.push_back(std::move(task));
  }
  const EngineRun result = run(wide, kernels, tasks);
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    RC_ASSERT(std::abs(result.tasks[at].begin - expected[at].begin) < 1e-6);
    RC_ASSERT(std::abs(result.tasks[at].end - expected[at].end) < 1e-6);
  }
}

std::unique_ptr<SimWorkload> workload_of(const Step& step) {
  return std::move(*SimWorkload::make(step, h200(), RunNoise(0, 1), std::chrono::seconds(60)));
}

/// Two by two ranks, operations of all and of some, on usual lanes and on others.
Step any_step() {
  Step step;
  step.name = "any";
  step.mesh = {{"dp", 2}, {"pp", 2}};
  step.ranks = 4;
  step.repeats = *rc::gen::inRange(1, 3);
  const int count = *rc::gen::inRange(1, 6);
  for (int at = 0; at < count; ++at) {
    Operation operation =
        *rc::gen::arbitrary<bool>() ? compute_operation("o" + std::to_string(at)) : comm_operation("o" + std::to_string(at));
    const int axis = *rc::gen::inRange(0, 3);
    if (axis < 2 && !computes(operation)) { operation.along = {axis}; }
    if (axis < 2 && *rc::gen::arbitrary<bool>()) { operation.at = {{1 - axis, *rc::gen::inRange(0, 2)}}; }
    if (*rc::gen::inRange(0, 3) == 0) { operation.lane = computes(operation) ? "side" : "other"; }
    step.operations.push_back(std::move(operation));
    for (int before = 0; before < at; ++before) {
      if (*rc::gen::inRange(0, 4) != 0) { continue; }
      step.operations.back().after.push_back({before, false});
      // Of operations without a rank in common none waits for the other.
      if (!validate(step)) { step.operations.back().after.pop_back(); }
    }
  }
  return step;
}

// Whatever waits for whatever, on whatever lanes and ranks: the recording keeps the program's order, and nobody overtakes.
RC_GTEST_PROP(SimProgram, ARecordingOfAnyStepKeepsItsOrder, ()) {
  const Step step = any_step();
  RC_ASSERT(validate(step).ok());
  OverlapPlan plan;
  plan.priority = *rc::gen::arbitrary<bool>();
  plan.launch_gate = *rc::gen::arbitrary<bool>();
  const auto workload = workload_of(step);
  for (const Order order : {Order::sequential, Order::concurrent}) {
    const Program program = *lower(step, order, plan);
    const Timeline timeline = *workload->record(program);
    std::size_t spans = 0;
    for (const Launch& launch : program.launches) {
      spans += ranks_of(step, step.operations[static_cast<std::size_t>(launch.operation)]).size();
    }
    RC_ASSERT(timeline.spans.size() == spans);
    const Status kept = check_order(step, program, timeline);
    RC_ASSERT(kept.ok());
  }
}

// The same computation under one name for each half of the ranks: two devices are simulated, as one alone would do.
RC_GTEST_PROP(SimProgram, RanksSimulatedApartDoAsOneStandsForAll, ()) {
  Step step;
  step.mesh = {{"pp", 2}};
  step.repeats = *rc::gen::inRange(1, 4);
  step.operations = {compute_operation("c"), comm_operation("s", {{0, false}})};
  std::get<Collective>(step.operations[1].what).bytes = mebibytes(*rc::gen::element(1, 16, 256));
  OverlapPlan plan;
  plan.priority = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) { plan.comm_blocks = Blocks(*rc::gen::element(1, 8, 24)); }
  if (*rc::gen::arbitrary<bool>()) { plan.copy_engine = true; }
  Step apart = step;
  apart.operations[0].at = {{0, 0}};
  apart.operations.push_back(apart.operations[0]);
  apart.operations[2].name = "d";
  apart.operations[2].at = {{0, 1}};
  apart.operations[1].after = {{0, false}, {2, false}};
  const Program together = *lower(step, Order::concurrent, plan);
  const Program divided = *lower(apart, Order::concurrent, plan);
  RC_ASSERT(divided.launches.size() == together.launches.size() / 2 * 3);
  RC_ASSERT(*workload_of(apart)->run(divided) == *workload_of(step)->run(together));
}

Microseconds time_of(const Collective& collective, int ranks, const OverlapPlan& plan = {}) {
  Scenario scenario;
  scenario.gpus = ranks;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(1)};
  scenario.collective = collective;
  const Step step = step_of(scenario);
  return *workload_of(step)->run(*lower(step, Order::comm_only, plan));
}

TEST(SimProgram, BroadcastsSendsAndUnevenExchangesTakeWhatTheirBytesTakeOnTheLinks) {
  Collective what;
  what.bytes = mebibytes(256);
  const auto time = [&](CollectiveOp op, int ranks, std::vector<double> shares = {}) {
    what.op = op;
    what.shares = std::move(shares);
    return time_of(what, ranks);
  };
  const Microseconds start(38);
  // An all_to_all of four ranks moves 192 MiB of 256. With equal shares the uneven one is the same; with all of it for one rank,
  // that one gets 768 MiB: four times as much.
  const Microseconds even = time(CollectiveOp::all_to_all, 4);
  EXPECT_EQ(time(CollectiveOp::all_to_all_v, 4, {1, 1, 1, 1}), even);
  EXPECT_NEAR((time(CollectiveOp::all_to_all_v, 4, {0, 0, 0, 1}) - start) / (even - start), 4, 0.05);
  // A send moves all 256 MiB, half of which an all_to_all of two ranks moves.
  EXPECT_NEAR((time(CollectiveOp::send_recv, 2) - start) / (time(CollectiveOp::all_to_all, 2) - start), 2, 0.05);
  // So does a broadcast, of which an all_gather of four moves 192.
  EXPECT_NEAR((time(CollectiveOp::broadcast, 4) - start) / (time(CollectiveOp::all_gather, 4) - start), 4.0 / 3, 0.05);
}

TEST(SimProgram, WhatCopyEnginesAndSymmetricMemoryLackIsRefusedWithAReason) {
  Scenario scenario;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(1)};
  scenario.collective = {CollectiveOp::broadcast, mebibytes(1), DataType::bf16, std::nullopt, std::nullopt, 1};
  const Step step = step_of(scenario);
  const auto workload = workload_of(step);
  const auto refusal = [&](const OverlapPlan& plan) {
    return workload->accepts(*lower(step, Order::concurrent, plan)).error().message;
  };
  OverlapPlan plan;
  plan.copy_engine = true;
  EXPECT_EQ(refusal(plan), "copy_engine: true with broadcast, expected false (NCCL gives copy engines no broadcast)");
  plan.copy_engine = false;
  plan.symmetric = true;
  EXPECT_EQ(refusal(plan), "symmetric: true with broadcast, expected false (NCCL's broadcasts have no such kernel)");
}

TEST(SimProgram, ASendJoinsItsTwoStagesAlone) {
  // Three stages: the first sends to the second; the third computes from the beginning.
  Step step;
  step.name = "stages";
  step.mesh = {{"pp", 3}};
  step.ranks = 3;
  step.operations = {compute_operation("front"), comm_operation("act", {{0, false}}), compute_operation("head", {{1, false}}),
                     compute_operation("other")};
  step.operations[0].at = {{0, 0}};
  step.operations[1].what = SendRecv{mebibytes(16), DataType::bf16, 0, 1};
  step.operations[1].along = {0};
  step.operations[2].at = {{0, 1}};
  step.operations[3].at = {{0, 2}};
  ASSERT_TRUE(validate(step));
  const Timeline timeline = *workload_of(step)->record(*lower(step, Order::concurrent, {}));
  ASSERT_EQ(timeline.spans.size(), 5u);  // front, act; act, head; other
  EXPECT_EQ(timeline.spans[1].end, timeline.spans[2].end);
  EXPECT_GT(timeline.spans[3].begin, timeline.spans[2].end);
  EXPECT_EQ(timeline.spans[4].device, 2);
  EXPECT_EQ(timeline.spans[4].begin.count(), 0);
}

TEST(SimProgram, StagesOfAPipelineWaitByTheirCollectiveAlone) {
  // Stage 0 computes, both communicate, then stage 1 computes.
  Step step;
  step.mesh = {{"pp", 2}};
  step.operations = {compute_operation("front"), comm_operation("act", {{0, false}}), compute_operation("head", {{1, false}})};
  step.operations[0].at = {{0, 0}};
  step.operations[2].at = {{0, 1}};
  const Program program = *lower(step, Order::concurrent, {});
  const Timeline timeline = *workload_of(step)->record(program);
  ASSERT_EQ(timeline.spans.size(), 4u);  // front and act on rank 0, act and head on rank 1
  const Span &front = timeline.spans[0], &here = timeline.spans[1], &there = timeline.spans[2], &head = timeline.spans[3];
  EXPECT_EQ(here.device, 0);
  EXPECT_EQ(there.device, 1);
  EXPECT_EQ(there.begin.count(), 4'000);  // behind an event of its first lane, where nothing is yet
  EXPECT_EQ((here.begin - front.end).count(), 4'000);
  EXPECT_EQ(here.end, there.end);
  EXPECT_EQ((head.begin - there.end).count(), 4'000);
}

TEST(SimProgram, ALaunchOutsideOfWindowsIsPartOfTheSameRun) {
  // Glued from three runs, the last collective began a launch gap behind the last computation; it waits for its event.
  Scenario scenario;
  scenario.iterations = 3;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(512)};
  scenario.collective.bytes = mebibytes(1);
  const Step step = step_of(scenario);
  OverlapPlan plan;
  plan.comm_blocks = Blocks(4);
  plan.windows_only = plan.launch_gate = true;
  const Program program = *lower(step, Order::concurrent, plan);
  const Timeline timeline = *workload_of(step)->record(program);
  // Spans of device 0 in the program's order; an event takes 4 us, a launch gap 1.5. Collective 1 is over by then.
  EXPECT_NEAR(static_cast<double>((timeline.spans[1].begin - timeline.spans[0].end).count()), 4'000, 1);
  EXPECT_NEAR(static_cast<double>((timeline.spans[2].begin - timeline.spans[1].begin).count()), 4'000, 1);
  EXPECT_NEAR(static_cast<double>((timeline.spans[5].begin - timeline.spans[4].end).count()), 4'000, 1);
}

TEST(SimProgram, ARecordedKernelTakesItsRecordedTime) {
  Step step;
  Operation operation;
  operation.name = "k";
  operation.what = RecordedKernel{
      "k", {Microseconds(120), Microseconds(100), Microseconds(110)}, Blocks(132), Threads(256), Registers(64), {}, {}, {}};
  operation.host_gap = Microseconds(50);
  step.operations = {operation};
  const Program program = *lower(step, Order::compute_only, {});
  // Within the 2 % by which blocks differ, behind the host's gap.
  EXPECT_NEAR(workload_of(step)->run(program)->count(), 160, 3);
  std::get<RecordedKernel>(step.operations[0].what).registers_per_thread.reset();
  const auto refused = SimWorkload::make(step, h200(), RunNoise(0, 1), std::chrono::seconds(1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("footprint without registers, expected threads and registers"));
}

}  // namespace
}  // namespace elbowroom::sim
