#include "elbowroom/plan/launch_check.hpp"

#include <gtest/gtest.h>

#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/plan/sites.hpp"

namespace elbowroom {
namespace {

using testing::scenario_of;

/// What is said of the first launch of that side of the concurrent program.
std::string said(const Scenario& scenario, const OverlapPlan& plan, const Capabilities& can, bool of_compute) {
  const Step step = step_of(scenario);
  const DeviceLimits h200 = testing::device("h200");
  const bool library = std::holds_alternative<LibraryGemm>(scenario.compute);
  const Result<Program> program = lower(step, Order::concurrent, plan);
  if (!program) { return program.error().message; }
  for (const Launch& launch : program->launches) {
    const Operation& operation = step.operations[static_cast<std::size_t>(launch.operation)];
    if (computes(operation) != of_compute) { continue; }
    const LaunchSite site{h200, can, operation, library ? nullptr : &testing::kEightBlocks, library ? kLibraryKernel : ""};
    const Status accepted = check_launch(site, launch, program->lanes[static_cast<std::size_t>(launch.lane)]);
    if (!accepted) { return accepted.error().message; }
  }
  return "accepted";
}

const Elementwise kGelu{ElementwiseOp::gelu, DataType::f32, mebibytes(4096)};
const LibraryGemm kProduct{8192, 8192, 8192, DataType::bf16};

std::string of_collective(const OverlapPlan& plan, CollectiveOp op = CollectiveOp::all_reduce, const Capabilities& can = {}) {
  return said(scenario_of(kGelu, op), plan, can, false);
}

std::string of_kernel(const OverlapPlan& plan, const Capabilities& can = {}) { return said(scenario_of(kGelu), plan, can, true); }

std::string of_product(const OverlapPlan& plan, const Capabilities& can = {}) {
  return said(scenario_of(kProduct), plan, can, true);
}

TEST(CheckLaunch, AcceptsAPlanThatAsksForNothing) {
  EXPECT_EQ(of_collective({}), "accepted");
  EXPECT_EQ(of_kernel({}), "accepted");
  EXPECT_EQ(of_product({}), "accepted");
}

TEST(CheckLaunch, RefusesAPadOfALibrarysKernelAndOneTooLarge) {
  OverlapPlan plan;
  plan.pad = Bytes(232'448);  // 227 KiB, all that a block may have
  EXPECT_EQ(of_kernel(plan), "accepted");
  plan.pad = Bytes(232'449);
  EXPECT_EQ(of_kernel(plan), "pad_bytes: 232449, expected 0 to 232448 for this kernel");
  EXPECT_EQ(of_product(plan),
            "pad_bytes: library_gemm cannot be shaped: the library launches its own kernel, its shared memory is not ours to pad");
}

TEST(CheckLaunch, RefusesNumbersOutOfTheirRange) {
  OverlapPlan plan;
  plan.carveout = Percent(101);
  EXPECT_EQ(of_kernel(plan), "carveout: 101, expected 0 to 100 percent");
  EXPECT_EQ(of_product(plan), "carveout: acts on this project's kernels only, not on library_gemm");
  plan = {};
  plan.sm_target = Sms(133);
  EXPECT_EQ(of_product(plan), "sm_target: 133, expected 1 to 132");
  EXPECT_EQ(of_kernel(plan), "sm_target: acts on library_gemm only, this kernel's grid is the scenario's");
  plan = {};
  plan.comm_blocks = Blocks(65);
  EXPECT_EQ(of_collective(plan), "comm_blocks: 65, expected 1 to 64");
  plan = {};
  plan.cluster = 9;
  EXPECT_EQ(of_collective(plan), "cluster: 9, expected 1 to 8 on h200");
  plan = {};
  plan.comm_threads = Threads(200);
  EXPECT_EQ(of_collective(plan), "comm_threads: 200, expected a multiple of 32 from 128 to 640");
  plan = {};
  plan.comm_sms = Sms(132);
  EXPECT_EQ(of_kernel(plan), "comm_sms: 132, expected 1 to 131");
}

TEST(CheckLaunch, RefusesWhatACollectiveHasNot) {
  OverlapPlan plan;
  plan.symmetric = true;
  EXPECT_EQ(of_collective(plan, CollectiveOp::all_to_all),
            "symmetric: true with all_to_all, expected false (NCCL's send and receive have no such kernel)");
  EXPECT_EQ(of_collective(plan), "accepted");
  plan = {};
  plan.comm_threads = Threads(256);
  EXPECT_EQ(of_collective(plan, CollectiveOp::all_to_all), "comm_threads: NCCL's send and receive take no number of threads");
  plan = {};
  plan.peer_detour = true;
  EXPECT_EQ(of_collective(plan, CollectiveOp::all_gather), "peer_detour: copies alone make detours, expected beside copy_engine");
  plan.copy_engine = true;
  EXPECT_EQ(of_collective(plan, CollectiveOp::all_gather), "accepted");
  EXPECT_EQ(of_collective(plan), "peer_detour: copy engines gather an all_reduce in place, nothing is copied within a device");
}

TEST(CheckLaunch, SaysWhatTheMachineLacksAndKeepsTheKindOfTheError) {
  Capabilities can;
  can.urgent_streams = unavailable("one priority only");
  can.begun_events = invalid_input("no such event");
  OverlapPlan plan;
  plan.launch_gate = true;
  EXPECT_EQ(of_kernel(plan, can), "launch_gate: no such event");
  EXPECT_EQ(of_kernel(plan), "accepted");
  plan = {};
  plan.priority = true;
  EXPECT_EQ(of_collective(plan, CollectiveOp::all_reduce, can), "priority: one priority only");
  const Operation operation = step_of(scenario_of(kGelu)).operations.front();
  const DeviceLimits h200 = testing::device("h200");
  const LaunchSite site{h200, can, operation, &testing::kEightBlocks, ""};
  EXPECT_EQ(check_launch(site, {}, {"comm", true, std::nullopt}).error().kind, ErrorKind::unavailable);
}

TEST(CapabilitiesOf, AmdsLackWhatIsNvidias) {
  const Capabilities amd = capabilities_of(testing::device("mi250x"));
  EXPECT_EQ(amd.copy_engines.error().message, "copy-engine collectives are NCCL's");
  EXPECT_TRUE(amd.urgent_streams);
  const Capabilities nvidia = capabilities_of(testing::device("a40"));
  EXPECT_TRUE(nvidia.copy_engines && nvidia.begun_events && nvidia.carveouts && nvidia.comm_threads && nvidia.symmetric);
}

}  // namespace
}  // namespace elbowroom
