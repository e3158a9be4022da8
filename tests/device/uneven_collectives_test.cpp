// Collectives whose ranks do not all send, or not equal shares: broadcasts, exchanges by shares, single sends. Every received
// element is compared with what its sender had.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/order_check.hpp"
#include "elbowroom/plan/program.hpp"
#include "live_gpu.hpp"
#include "live_workload.hpp"

namespace elbowroom {
namespace {

using testing::recorded;
using testing::small;

Collective uneven(CollectiveOp op) {
  Collective collective;
  collective.op = op;
  return collective;
}

/// Every root, and shares of which some are none, as many as no other, or no whole number of elements.
std::vector<Collective> uneven_among(int gpus) {
  std::vector<Collective> all;
  for (int root = 0; root < gpus; ++root) {
    all.push_back(uneven(CollectiveOp::broadcast));
    all.back().root = root;
  }
  const auto ranks = static_cast<std::size_t>(gpus);
  std::vector<double> rising(ranks);
  for (std::size_t at = 0; at < ranks; ++at) { rising[at] = 1 + 1.7 * static_cast<double>(at); }
  std::vector<double> all_to_last(ranks, 0.0);
  all_to_last.back() = 1;
  for (const std::vector<double>& shares : {rising, all_to_last, std::vector<double>(ranks, 1.0)}) {
    all.push_back(uneven(CollectiveOp::all_to_all_v));
    all.back().shares = shares;
  }
  if (gpus == 2) { all.push_back(uneven(CollectiveOp::send_recv)); }
  return all;
}

Scenario beside_gelu(Collective collective, Bytes bytes, DataType dtype, int gpus) {
  Scenario scenario = small(Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(8)}, collective.op, gpus);
  collective.bytes = bytes;
  collective.dtype = dtype;
  scenario.collective = std::move(collective);
  return scenario;
}

/// The plans under which each of them is tried: by itself, with a budget, behind the launch gate.
std::vector<OverlapPlan> uneven_plans() {
  OverlapPlan budget;
  budget.comm_blocks = Blocks(4);
  OverlapPlan gated = budget;
  gated.priority = gated.launch_gate = true;
  return {OverlapPlan(), budget, gated};
}

class LiveUnevenCollectives : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { backend_ = testing::live_backend(GetParam()); }

  /// Null where the test has failed.
  std::unique_ptr<CaseTrials> prepared(const Scenario& scenario) {
    Result<CaseTrials> workload = CaseTrials::prepare(*backend_, scenario);
    if (workload) { return std::make_unique<CaseTrials>(std::move(*workload)); }
    ADD_FAILURE() << to_json(scenario, -1) << ": " << workload.error().message;
    return nullptr;
  }

  std::unique_ptr<Backend> backend_;
};

TEST_P(LiveUnevenCollectives, EveryElementIsTheSendersBitForBit) {
  if (!backend_) { return; }
  // More than any buffer of the library, and a count that neither ranks nor warps divide.
  for (const auto& [bytes, dtype] : {std::pair{mebibytes(24), DataType::bf16}, {Bytes(4 * 1'000'003), DataType::f32}}) {
    for (const Collective& collective : uneven_among(GetParam())) {
      const Scenario scenario = beside_gelu(collective, bytes, dtype, GetParam());
      SCOPED_TRACE(to_json(scenario, -1));
      const std::unique_ptr<CaseTrials> workload = prepared(scenario);
      if (!workload) { return; }
      for (const OverlapPlan& plan : uneven_plans()) {
        for (const Order order : {Order::sequential, Order::concurrent}) {
          if (plan.launch_gate && order == Order::sequential) { continue; }
          const Status verified = workload->verify(order, plan);
          EXPECT_TRUE(verified) << in_words(plan) << ", " << to_string(order) << ": " << verified.error().message;
        }
      }
    }
  }
}

TEST_P(LiveUnevenCollectives, ARecordingHoldsOneKernelOnEachDeviceInTheProgramsOrder) {
  if (!backend_) { return; }
  for (const Collective& collective : uneven_among(GetParam())) {
    const Scenario scenario = beside_gelu(collective, mebibytes(24), DataType::bf16, GetParam());
    SCOPED_TRACE(to_json(scenario, -1));
    const std::unique_ptr<CaseTrials> workload = prepared(scenario);
    if (!workload) { return; }
    for (const OverlapPlan& plan : uneven_plans()) {
      const std::optional<Timeline> timeline = recorded(*workload, Order::concurrent, plan);
      if (!timeline) { return; }
      const Step step = step_of(scenario);
      const Result<Program> program = lower(step, Order::concurrent, plan);
      ASSERT_TRUE(program) << program.error().message;
      const Status kept = check_order(step, *program, *timeline);
      EXPECT_TRUE(kept) << in_words(plan) << ": " << kept.error().message;
      for (const Span& span : timeline->spans) {
        if (span.kind != SpanKind::communication || !plan.comm_blocks) { continue; }
        ASSERT_TRUE(span.launch) << span.name;
        EXPECT_LE(span.launch->grid, *plan.comm_blocks) << span.name << ", " << in_words(plan);
      }
    }
  }
}

TEST_P(LiveUnevenCollectives, WhatTheLibraryLacksForThemIsRefusedWithItsReason) {
  if (!backend_) { return; }
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::all_to_all_v, CollectiveOp::send_recv}) {
    if (op == CollectiveOp::send_recv && GetParam() != 2) { continue; }
    Collective collective = uneven(op);
    if (op == CollectiveOp::all_to_all_v) { collective.shares.assign(static_cast<std::size_t>(GetParam()), 1.0); }
    const std::unique_ptr<CaseTrials> workload = prepared(beside_gelu(collective, mebibytes(1), DataType::bf16, GetParam()));
    if (!workload) { return; }
    OverlapPlan copied;
    copied.copy_engine = true;
    OverlapPlan symmetric;
    symmetric.symmetric = true;
    for (const auto& [plan, reason] : {std::pair{copied, *facts_of(op).no_engines}, {symmetric, *facts_of(op).without_symmetric}}) {
      const Status accepted = workload->accepts(plan);
      ASSERT_FALSE(accepted) << to_string(op) << ": " << in_words(plan);
      EXPECT_NE(accepted.error().message.find(reason), std::string::npos) << accepted.error().message;
      EXPECT_FALSE(workload->run(Order::concurrent, plan)) << to_string(op) << ": " << in_words(plan);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, LiveUnevenCollectives, ::testing::Values(2, 4, 8),
                         [](const auto& gpus) { return fmt::format("{}", gpus.param); });

}  // namespace
}  // namespace elbowroom
