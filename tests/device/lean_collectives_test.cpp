// Collectives that need less of an SM, or none: by copy engines, with detours, on symmetric memory. They give the same results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"
#include "live_gpu.hpp"
#include "live_workload.hpp"

namespace elbowroom {
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

Scenario beside_a_copy(CollectiveOp op) { return small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(64)}, op, 2); }

/// Null where the test has failed.
std::unique_ptr<CaseTrials> prepared(Backend& backend, const Scenario& scenario) {
  Result<CaseTrials> workload = CaseTrials::prepare(backend, scenario);
  if (workload) { return std::make_unique<CaseTrials>(std::move(*workload)); }
  ADD_FAILURE() << workload.error().message;
  return nullptr;
}

/// Whether every plan's results are right. Otherwise the test is over: skipped where this machine cannot carry the plan out, failed
/// otherwise.
bool right(CaseTrials& workload, const std::vector<OverlapPlan>& plans) {
  for (const OverlapPlan& plan : plans) {
    const Status verified = workload.verify(Order::concurrent, plan);
    if (verified) { continue; }
    if (verified.error().kind == ErrorKind::unavailable) {
      [&] { GTEST_SKIP() << verified.error().message; }();
    } else {
      ADD_FAILURE() << in_words(plan) << ": " << verified.error().message;
    }
    return false;
  }
  return true;
}

OverlapPlan gated(OverlapPlan plan) {
  plan.launch_gate = true;
  plan.comm_blocks = Blocks(4);
  return plan;
}

TEST(LiveWorkload, CopyEnginesMoveTheSameDataWithoutAKernel) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::all_to_all}) {
    SCOPED_TRACE(to_string(op));
    const Scenario scenario = beside_a_copy(op);
    const std::unique_ptr<CaseTrials> workload = prepared(*backend, scenario);
    if (!workload) { return; }
    OverlapPlan plan;
    plan.copy_engine = true;
    if (!right(*workload, {plan})) { return; }
    // Not comm_only: of a recording that begins with a copy, CUPTI loses that one.
    const std::optional<Timeline> timeline = recorded(*workload, Order::concurrent, plan);
    if (!timeline) { return; }
    EXPECT_EQ(0, comm_kernels(*timeline)) << to_string(op);
    // Each of two GPUs copies one half to its peer and one half to itself.
    EXPECT_EQ(4 * scenario.iterations, activity(*timeline, SpanKind::communication).spans) << to_string(op) << "\n"
                                                                                           << in_words(*timeline);
  }
}

TEST(LiveWorkload, ADetourLeavesNothingToCopyWithinADevice) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  for (const auto& [op, copies] : {std::pair{CollectiveOp::all_gather, 2}, {CollectiveOp::all_to_all, 3}}) {
    SCOPED_TRACE(to_string(op));
    const Scenario scenario = beside_a_copy(op);
    const std::unique_ptr<CaseTrials> workload = prepared(*backend, scenario);
    if (!workload) { return; }
    OverlapPlan plan;
    plan.copy_engine = plan.peer_detour = true;
    OverlapPlan in_windows = plan;
    in_windows.windows_only = true;
    if (!right(*workload, {in_windows, plan})) { return; }
    const std::optional<Timeline> timeline = recorded(*workload, Order::concurrent, plan);
    if (!timeline) { return; }
    EXPECT_EQ(0, comm_kernels(*timeline)) << to_string(op);
    // To the peer and back; what is gathered is at the peer anyway.
    EXPECT_EQ(2 * copies * scenario.iterations, activity(*timeline, SpanKind::communication).spans) << in_words(*timeline);
    for (const Span& span : timeline->spans) { EXPECT_EQ(span.name.find("within the device"), std::string::npos) << span.name; }
  }
}

TEST(LiveWorkload, KernelsOnSymmetricMemoryGiveTheSameResults) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    SCOPED_TRACE(to_string(op));
    const Scenario scenario = beside_a_copy(op);
    const std::unique_ptr<CaseTrials> workload = prepared(*backend, scenario);
    if (!workload) { return; }
    OverlapPlan plan;
    plan.symmetric = true;
    if (!right(*workload, {plan, gated(plan)})) { return; }
    const std::optional<Timeline> timeline = recorded(*workload, Order::comm_only, gated(plan));
    if (!timeline) { return; }
    EXPECT_EQ(2 * scenario.iterations, comm_kernels(*timeline)) << to_string(op);
    for (const Span& span : timeline->spans) {
      EXPECT_NE(span.name.find("Symk"), std::string::npos) << span.name;
      EXPECT_EQ(span.launch->grid, Blocks(4)) << span.name;
      // What the planner takes its blocks to need.
      const KernelFootprint expected = symmetric_comm_kernel(op)->footprint;
      EXPECT_EQ(span.launch->block, expected.threads);
      EXPECT_EQ(span.launch->registers_per_thread, expected.registers_per_thread);
      EXPECT_EQ(span.launch->dynamic_shared, expected.dynamic_shared);
    }
  }
}

TEST(LiveWorkload, CopyEnginesGatherWhatKernelsReduced) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  const Scenario scenario = beside_a_copy(CollectiveOp::all_reduce);
  const std::unique_ptr<CaseTrials> workload = prepared(*backend, scenario);
  if (!workload) { return; }
  OverlapPlan plan;
  plan.copy_engine = true;
  if (!right(*workload, {plan, gated(plan)})) { return; }
  const std::optional<Timeline> timeline = recorded(*workload, Order::comm_only, gated(plan));
  if (!timeline) { return; }
  // One kernel and, in place, one copy to the peer, on each of two GPUs.
  EXPECT_EQ(2 * scenario.iterations, comm_kernels(*timeline));
  EXPECT_EQ(4 * scenario.iterations, activity(*timeline, SpanKind::communication).spans) << in_words(*timeline);
}

}  // namespace
}  // namespace elbowroom
