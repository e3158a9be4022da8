// The CUDA backend on real devices: every kernel and collective computes the right thing under every order, and what goes wrong
// is said in one line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"
#include "live_gpu.hpp"
#include "live_workload.hpp"

namespace elbowroom {
namespace {

using testing::recorded;
using testing::small;

/// 64 MiB of GELU beside an all-reduce, prepared on two GPUs; skipped where there are none.
class LiveGelu : public ::testing::Test {
 protected:
  void SetUp() override {
    backend_ = testing::live_backend(2);
    if (!backend_) { return; }
    Result<CaseTrials> workload = CaseTrials::prepare(*backend_, scenario_);
    ASSERT_TRUE(workload) << workload.error().message;
    workload_ = std::make_unique<CaseTrials>(std::move(*workload));
  }

  const Scenario scenario_ = small(Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)}, CollectiveOp::all_reduce, 2);
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<CaseTrials> workload_;
};

TEST(LiveWorkload, EveryKernelAndCollectiveIsRightUnderEveryScheme) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  std::vector<Compute> computes;
  for (const std::int64_t tile_k : {8, 16, 32, 64}) {
    computes.emplace_back(TiledGemm{512, 768, 512, 64, 64, tile_k, GridShape{5, 3}, DataType::f32});
  }
  for (const std::int64_t tile_k : {8, 16, 32}) {
    computes.emplace_back(TiledGemm{512, 768, 512, 128, 128, tile_k, std::nullopt, DataType::f32});
  }
  for (const std::int64_t tile : {64, 128}) {
    for (const std::int64_t tile_k : {32, 64}) {
      computes.emplace_back(TiledGemm{512, 768, 512, tile, tile, tile_k, GridShape{2, 3}, DataType::bf16});
    }
  }
  for (const ElementwiseOp op : {ElementwiseOp::gelu, ElementwiseOp::relu, ElementwiseOp::copy}) {
    for (const DataType dtype : {DataType::f32, DataType::bf16, DataType::f16}) {
      computes.emplace_back(Elementwise{op, dtype, mebibytes(16) + Bytes(48)});
    }
  }
  for (const DataType dtype : {DataType::f32, DataType::bf16, DataType::f16}) {
    computes.emplace_back(LibraryGemm{512, 768, 256, dtype});
  }
  if (testing::has_e4m3(*backend)) { computes.emplace_back(LibraryGemm{512, 768, 256, DataType::e4m3}); }

  constexpr CollectiveOp ops[] = {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                                  CollectiveOp::all_to_all};
  for (std::size_t at = 0; at < computes.size(); ++at) {
    const Scenario scenario = small(computes[at], ops[at % 4], 2);
    SCOPED_TRACE(to_json(scenario, -1));
    Result<CaseTrials> workload = CaseTrials::prepare(*backend, scenario);
    ASSERT_TRUE(workload) << workload.error().message;
    for (const Order order : {Order::compute_only, Order::comm_only}) {
      const Status verified = workload->verify(order, {});
      EXPECT_TRUE(verified) << verified.error().message;
    }
    for (const Scheme scheme : baselines()) {
      const auto plans =
          scheme_plans(scheme, backend->devices().front().limits, workload->compute().footprint, scenario.collective);
      if (!plans) { continue; }
      const Order order = scheme == Scheme::sequential ? Order::sequential : Order::concurrent;
      const Status verified = workload->verify(order, plans->back());
      EXPECT_TRUE(verified) << to_string(scheme) << ": " << verified.error().message;
    }
  }
}

TEST(LiveWorkload, EveryCollectiveIsExactInBothTypesAndWithABudget) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  const int gpus = static_cast<int>(std::min<std::size_t>(backend->devices().size(), 8));
  for (const CollectiveOp op :
       {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
    for (const DataType dtype : {DataType::f32, DataType::bf16}) {
      Scenario scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(1)}, op, gpus);
      scenario.collective.dtype = dtype;
      Result<CaseTrials> workload = CaseTrials::prepare(*backend, scenario);
      ASSERT_TRUE(workload) << workload.error().message;
      OverlapPlan budget;
      budget.comm_blocks = Blocks(4);
      budget.cluster = 1;
      for (const OverlapPlan& plan : {OverlapPlan{}, budget}) {
        const Status verified = workload->verify(Order::comm_only, plan);
        EXPECT_TRUE(verified) << to_string(op) << " " << to_string(dtype) << ": " << verified.error().message;
      }
    }
  }
}

TEST_F(LiveGelu, CommBlocksAndClusterReachTheKernel) {
  OverlapPlan plan;
  plan.comm_blocks = Blocks(8);
  plan.cluster = 2;
  const std::optional<Timeline> timeline = recorded(*workload_, Order::comm_only, plan);
  if (!timeline) { return; }
  ASSERT_EQ(static_cast<std::size_t>(2 * scenario_.iterations), timeline->spans.size());
  for (const Span& span : timeline->spans) {
    EXPECT_EQ(SpanKind::communication, span.kind) << span.name;
    ASSERT_TRUE(span.launch);
    EXPECT_EQ(8, span.launch->grid.count());
    EXPECT_EQ(2, span.launch->cluster);
  }
}

TEST_F(LiveGelu, PaddingReachesTheLaunchAndNothingElse) {
  OverlapPlan plan;
  plan.pad = kibibytes(50);
  const std::optional<Timeline> timeline = recorded(*workload_, Order::concurrent, plan);
  if (!timeline) { return; }
  int compute = 0;
  for (const Span& span : timeline->spans) {
    if (span.kind != SpanKind::compute) { continue; }
    ++compute;
    ASSERT_TRUE(span.launch);
    EXPECT_EQ(kibibytes(50).count(), span.launch->dynamic_shared.count());
  }
  EXPECT_EQ(2 * scenario_.iterations, compute);
}

TEST_F(LiveGelu, InWindowsOnlyWhatRunsAloneIsLaunchedAsItWouldBe) {
  OverlapPlan plan;
  plan.pad = kibibytes(20);
  plan.comm_blocks = Blocks(4);
  plan.windows_only = true;
  OverlapPlan parted = plan;
  parted.comm_sms = Sms(8);
  for (const OverlapPlan& verifiable : {plan, parted}) {
    const Status verified = workload_->verify(Order::concurrent, verifiable);
    ASSERT_TRUE(verified) << in_words(verifiable) << ": " << verified.error().message;
  }
  const std::optional<Timeline> timeline = recorded(*workload_, Order::concurrent, plan);
  if (!timeline) { return; }
  std::vector<Bytes> pads;
  std::vector<Blocks> budgets;
  std::vector<Span> spans = timeline->spans;
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  for (const Span& span : spans) {
    if (span.device != 0) { continue; }
    ASSERT_TRUE(span.launch);
    if (span.kind == SpanKind::compute) { pads.push_back(span.launch->dynamic_shared); }
    if (span.kind == SpanKind::communication) { budgets.push_back(span.launch->grid); }
  }
  EXPECT_EQ(pads, (std::vector<Bytes>{Bytes(0), kibibytes(20), kibibytes(20)}));
  ASSERT_EQ(3u, budgets.size());
  EXPECT_EQ(budgets[0], Blocks(4));
  EXPECT_EQ(budgets[1], Blocks(4));
  EXPECT_GT(budgets[2], Blocks(4));
}

TEST(LiveWorkload, ManyIterationsDoNotBlockBehindTheStartLine) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  Scenario scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(1)}, CollectiveOp::all_reduce, 2);
  scenario.iterations = 3000;
  Result<CaseTrials> workload = CaseTrials::prepare(*backend, scenario);
  ASSERT_TRUE(workload) << workload.error().message;
  const Result<Microseconds> time = workload->run(Order::concurrent, {});
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_GT(time->count(), 0);
}

TEST(LiveWorkload, ATimeLimitAbortsAndSaysSo) {
  BackendOptions options;
  options.time_limit = std::chrono::milliseconds(1);
  const auto backend = testing::live_backend(2, options);
  if (!backend) { return; }
  // About 150 ms of work a round.
  Scenario scenario = small(TiledGemm{8192, 8192, 8192, 64, 64, 32, std::nullopt, DataType::bf16}, CollectiveOp::all_reduce, 2);
  scenario.iterations = 10;
  Result<CaseTrials> workload = CaseTrials::prepare(*backend, scenario);
  ASSERT_TRUE(workload) << workload.error().message;
  const Result<Microseconds> time = workload->run(Order::concurrent, {});
  ASSERT_FALSE(time);
  EXPECT_NE(std::string::npos, time.error().message.find("time limit")) << time.error().message;
  EXPECT_FALSE(workload->run(Order::concurrent, {}));  // given up, not hung
}

TEST(LiveWorkload, TheTimeLimitIsKeptWhileIterationsAreStillEnqueued) {
  BackendOptions options;
  options.time_limit = std::chrono::milliseconds(200);
  const auto backend = testing::live_backend(2, options);
  if (!backend) { return; }
  // 4000 rounds of at least 0.5 ms: far more than a stream's queue takes, 2 s at least.
  Scenario scenario = small(Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(1024)}, CollectiveOp::all_reduce, 2);
  scenario.iterations = 4000;
  Result<CaseTrials> workload = CaseTrials::prepare(*backend, scenario);
  ASSERT_TRUE(workload) << workload.error().message;
  const auto begin = std::chrono::steady_clock::now();
  const Result<Microseconds> time = workload->run(Order::concurrent, {});
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_FALSE(time);
  EXPECT_NE(std::string::npos, time.error().message.find("time limit")) << time.error().message;
  EXPECT_LT(took, std::chrono::milliseconds(1500));
}

TEST(LiveWorkload, TheLaunchGateLetsNoComputeStartBeforeTheCollectiveHas) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  Scenario scenario = small(LibraryGemm{4096, 4096, 4096, DataType::bf16}, CollectiveOp::all_reduce, 2);
  scenario.collective.bytes = mebibytes(256);
  scenario.iterations = 6;
  Result<CaseTrials> workload = CaseTrials::prepare(*backend, scenario);
  ASSERT_TRUE(workload) << workload.error().message;
  OverlapPlan gated;
  gated.launch_gate = true;
  const Status verified = workload->verify(Order::concurrent, gated);
  ASSERT_TRUE(verified) << verified.error().message;
  const std::optional<Timeline> timeline = recorded(*workload, Order::concurrent, gated);
  if (!timeline) { return; }
  for (int device = 0; device < 2; ++device) {
    const auto begins = [&](SpanKind kind) {
      std::vector<Nanoseconds> found;
      for (const Span& span : timeline->spans) {
        if (span.device == device && span.kind == kind) { found.push_back(span.begin); }
      }
      std::sort(found.begin(), found.end());
      return found;
    };
    const std::vector<Nanoseconds> compute = begins(SpanKind::compute);
    const std::vector<Nanoseconds> comm = begins(SpanKind::communication);
    ASSERT_EQ(6u, compute.size());
    ASSERT_EQ(6u, comm.size());
    for (std::size_t i = 0; i + 1 < compute.size(); ++i) { EXPECT_GE(compute[i + 1], comm[i]) << "GPU " << device << ", " << i; }
  }
}

TEST(LiveWorkload, APartitionLeavesComputeFewerSms) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  const Scenario scenario =
      small(TiledGemm{4096, 4096, 4096, 64, 64, 32, std::nullopt, DataType::f32}, CollectiveOp::all_reduce, 2);
  Result<CaseTrials> workload = CaseTrials::prepare(*backend, scenario);
  ASSERT_TRUE(workload) << workload.error().message;
  OverlapPlan parted;
  parted.comm_sms = backend->devices().front().limits.sms / 2;
  const Status verified = workload->verify(Order::concurrent, parted);
  if (!verified && verified.error().kind == ErrorKind::unavailable) { GTEST_SKIP() << verified.error().message; }
  ASSERT_TRUE(verified) << verified.error().message;
  const Result<Microseconds> whole = workload->run(Order::compute_only, {});
  const Result<Microseconds> half = workload->run(Order::compute_only, parted);
  ASSERT_TRUE(whole && half);
  EXPECT_GT(*half / *whole, 1.5);
  EXPECT_LT(*half / *whole, 2.6);
}

TEST_F(LiveGelu, ACarveOutChangesNoResult) {
  OverlapPlan plan;
  plan.carveout = Percent(100);
  const Status verified = workload_->verify(Order::concurrent, plan);
  EXPECT_TRUE(verified) << verified.error().message;
  plan.carveout = Percent(101);
  EXPECT_FALSE(workload_->run(Order::concurrent, plan));
}

TEST(LiveWorkload, WhatCannotBeIsRefusedInTheScenariosWords) {
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  const auto refusal = [&](const Scenario& scenario) {
    const Result<std::unique_ptr<Workload>> workload = backend->prepare(scenario);
    return workload ? std::string() : workload.error().message;
  };
  Scenario scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(1)}, CollectiveOp::all_reduce, 2);
  scenario.compute = Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(1 << 20)};
  EXPECT_NE(std::string::npos, refusal(scenario).find("GiB on each GPU, expected at most")) << refusal(scenario);
  scenario.compute = TiledGemm{960, 960, 960, 96, 96, 32, std::nullopt, DataType::f32};
  EXPECT_NE(std::string::npos, refusal(scenario).find("96x96x32, expected for f32 one of 64x64x8")) << refusal(scenario);
  if (backend->devices().size() < 8) {
    scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(1)}, CollectiveOp::all_reduce, 8);
    EXPECT_NE(std::string::npos, refusal(scenario).find("gpus: 8, expected at most")) << refusal(scenario);
  }
}

}  // namespace
}  // namespace elbowroom
