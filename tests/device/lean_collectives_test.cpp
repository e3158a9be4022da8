// Collectives that need less of an SM, or none: by copy engines, with detours, on symmetric memory. They give the same results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "headroom/model/comm_catalog.hpp"
#include "headroom/trace/overlap_metrics.hpp"
#include "live_gpu.hpp"
#include "live_workload.hpp"

namespace headroom {
namespace {

using testing::recorded;
using testing::small;

int comm_kernels(const Timeline& timeline) {
  return static_cast<int>(std::count_if(timeline.spans.begin(), timeline.spans.end(), [](const Span& span) {
    return span.kind == SpanKind::communication && span.launch.has_value();
  }));
}

std::string in_words(const Timeline& timeline) {
  std::string text;
  for (const Span& span : timeline.spans) {
    text += fmt::format("GPU {} stream {}: {} from {} to {} ns\n", span.device, span.stream, span.name, span.begin.count(),
                        span.end.count());
  }
  return text;
}

/// The plan's results as it is, then with a gate and four blocks, which it keeps.
Status verify_gated_too(Workload& workload, OverlapPlan& plan) {
  if (Status verified = workload.verify(Order::concurrent, plan); !verified) return verified;
  plan.launch_gate = true;
  plan.comm_blocks = Blocks(4);
  return workload.verify(Order::concurrent, plan);
}

TEST(LiveWorkload, CopyEnginesMoveTheSameDataWithoutAKernel) {
  const auto backend = testing::live_backend(2);
  if (!backend) return;
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::all_to_all}) {
    const Scenario scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(64)}, op, 2);
    Result<std::unique_ptr<Workload>> workload = backend->prepare(scenario);
    ASSERT_TRUE(workload) << workload.error().message;
    OverlapPlan plan;
    plan.copy_engine = true;
    const Status verified = (*workload)->verify(Order::concurrent, plan);
    if (!verified && verified.error().kind == ErrorKind::unavailable) GTEST_SKIP() << verified.error().message;
    ASSERT_TRUE(verified) << to_string(op) << ": " << verified.error().message;
    // Not comm_only: of a recording that begins with a copy, CUPTI loses that one.
    const std::optional<Timeline> timeline = recorded(**workload, Order::concurrent, plan);
    if (!timeline) return;
    EXPECT_EQ(0, comm_kernels(*timeline)) << to_string(op);
    // Each of two GPUs copies one half to its peer and one half to itself.
    EXPECT_EQ(4 * scenario.iterations, activity(*timeline, SpanKind::communication).spans) << to_string(op) << "\n"
                                                                                           << in_words(*timeline);
  }
}

TEST(LiveWorkload, ADetourLeavesNothingToCopyWithinADevice) {
  const auto backend = testing::live_backend(2);
  if (!backend) return;
  for (const auto& [op, copies] : {std::pair{CollectiveOp::all_gather, 2}, {CollectiveOp::all_to_all, 3}}) {
    const Scenario scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(64)}, op, 2);
    Result<std::unique_ptr<Workload>> workload = backend->prepare(scenario);
    ASSERT_TRUE(workload) << workload.error().message;
    OverlapPlan plan;
    plan.copy_engine = plan.peer_detour = true;
    for (const bool windows_only : {true, false}) {
      plan.windows_only = windows_only;
      const Status verified = (*workload)->verify(Order::concurrent, plan);
      if (!verified && verified.error().kind == ErrorKind::unavailable) GTEST_SKIP() << verified.error().message;
      ASSERT_TRUE(verified) << to_string(op) << ": " << verified.error().message;
    }
    const std::optional<Timeline> timeline = recorded(**workload, Order::concurrent, plan);
    if (!timeline) return;
    EXPECT_EQ(0, comm_kernels(*timeline)) << to_string(op);
    // To the peer and back; what is gathered is at the peer anyway.
    EXPECT_EQ(2 * copies * scenario.iterations, activity(*timeline, SpanKind::communication).spans) << in_words(*timeline);
    for (const Span& span : timeline->spans) EXPECT_EQ(span.name.find("within the device"), std::string::npos) << span.name;
  }
}

TEST(LiveWorkload, KernelsOnSymmetricMemoryGiveTheSameResults) {
  const auto backend = testing::live_backend(2);
  if (!backend) return;
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    const Scenario scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(64)}, op, 2);
    Result<std::unique_ptr<Workload>> workload = backend->prepare(scenario);
    ASSERT_TRUE(workload) << workload.error().message;
    OverlapPlan plan;
    plan.symmetric = true;
    const Status verified = verify_gated_too(**workload, plan);
    if (!verified && verified.error().kind == ErrorKind::unavailable) GTEST_SKIP() << verified.error().message;
    ASSERT_TRUE(verified) << to_string(op) << ": " << verified.error().message;
    const std::optional<Timeline> timeline = recorded(**workload, Order::comm_only, plan);
    if (!timeline) return;
    EXPECT_EQ(2 * scenario.iterations, comm_kernels(*timeline)) << to_string(op);
    for (const Span& span : timeline->spans) {
      EXPECT_NE(span.name.find("Symk"), std::string::npos) << span.name;
      EXPECT_EQ(span.launch->grid, Blocks(4)) << span.name;
      // What the planner takes its blocks to need.
      const KernelFootprint expected = symmetric_comm_kernel(op).footprint;
      EXPECT_EQ(span.launch->block, expected.threads);
      EXPECT_EQ(span.launch->registers_per_thread, expected.registers_per_thread);
      EXPECT_EQ(span.launch->dynamic_shared, expected.dynamic_shared);
    }
  }
}

TEST(LiveWorkload, CopyEnginesGatherWhatKernelsReduced) {
  const auto backend = testing::live_backend(2);
  if (!backend) return;
  const Scenario scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(64)}, CollectiveOp::all_reduce, 2);
  Result<std::unique_ptr<Workload>> workload = backend->prepare(scenario);
  ASSERT_TRUE(workload) << workload.error().message;
  OverlapPlan plan;
  plan.copy_engine = true;
  const Status verified = verify_gated_too(**workload, plan);
  if (!verified && verified.error().kind == ErrorKind::unavailable) GTEST_SKIP() << verified.error().message;
  ASSERT_TRUE(verified) << verified.error().message;
  const std::optional<Timeline> timeline = recorded(**workload, Order::comm_only, plan);
  if (!timeline) return;
  // One kernel and, in place, one copy to the peer, on each of two GPUs.
  EXPECT_EQ(2 * scenario.iterations, comm_kernels(*timeline));
  EXPECT_EQ(4 * scenario.iterations, activity(*timeline, SpanKind::communication).spans) << in_words(*timeline);
}

}  // namespace
}  // namespace headroom
