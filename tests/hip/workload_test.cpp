#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend_gpu/tiled_gemm_variants.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "fake_rocm.hpp"

namespace elbowroom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kSmallGelu;
using testing::small;

class HipWorkloadTest : public testing::FakeRocm {
 protected:
  /// A workload of `scenario`; the backend is kept.
  std::unique_ptr<CaseTrials> prepared(const Scenario& scenario, const BackendOptions& options = {}) {
    backend_ = open(options);
    if (backend_ == nullptr) { return nullptr; }
    Result<CaseTrials> workload = CaseTrials::prepare(*backend_, scenario);
    EXPECT_TRUE(workload) << workload.error().message;
    return workload ? std::make_unique<CaseTrials>(std::move(*workload)) : nullptr;
  }

  std::string refusal(const Scenario& scenario) {
    if (backend_ == nullptr) { backend_ = open(); }
    const Result<std::unique_ptr<Workload>> workload = backend_->prepare(scenario);
    return workload ? "accepted" : workload.error().message;
  }

  std::unique_ptr<Backend> backend_;
};

TEST_F(HipWorkloadTest, EveryKernelIsFoundAndVerifies) {
  std::vector<Compute> computes;
  for (const gpu::TiledGemmVariant& variant : gpu::tiled_gemm_variants()) {
    computes.emplace_back(TiledGemm{variant.tile_m, variant.tile_n, variant.tile_k, variant.tile_m, variant.tile_n, variant.tile_k,
                                    std::nullopt, variant.dtype});
  }
  computes.emplace_back(TiledGemm{256, 128, 32, 64, 64, 32, GridShape{1, 2}, DataType::f32});
  for (const ElementwiseOp op : {ElementwiseOp::gelu, ElementwiseOp::relu, ElementwiseOp::copy}) {
    for (const DataType dtype : {DataType::f32, DataType::bf16, DataType::f16}) {
      computes.emplace_back(Elementwise{op, dtype, kibibytes(64) + Bytes(48)});
    }
  }
  backend_ = open();
  ASSERT_NE(nullptr, backend_);
  for (const Compute& compute : computes) {
    Scenario scenario = small(compute);
    scenario.iterations = 1;
    SCOPED_TRACE(to_json(scenario, -1));
    Result<CaseTrials> workload = CaseTrials::prepare(*backend_, scenario);
    ASSERT_TRUE(workload) << workload.error().message;
    EXPECT_EQ(Threads(256), workload->compute().footprint->threads);
    const Status verified = workload->verify(Order::compute_only, {});
    EXPECT_TRUE(verified) << verified.error().message;
  }
}

TEST_F(HipWorkloadTest, EveryBaselineVerifiesWithEveryKindOfKernelAndCollective) {
  const std::pair<Compute, CollectiveOp> cases[] = {
      {TiledGemm{64, 64, 32, 64, 64, 32, std::nullopt, DataType::f32}, CollectiveOp::all_reduce},
      {TiledGemm{64, 64, 32, 64, 64, 32, std::nullopt, DataType::bf16}, CollectiveOp::all_gather},
      {LibraryGemm{48, 64, 32, DataType::bf16}, CollectiveOp::reduce_scatter},
      {LibraryGemm{48, 64, 32, DataType::f32}, CollectiveOp::all_reduce},
      {LibraryGemm{48, 64, 32, DataType::f16}, CollectiveOp::all_reduce},
      {kSmallGelu, CollectiveOp::all_to_all},
  };
  backend_ = open();
  ASSERT_NE(nullptr, backend_);
  for (const auto& [compute, op] : cases) {
    Scenario scenario = small(compute, op);
    scenario.iterations = 2;
    for (const Pattern pattern : {Pattern::pipeline, Pattern::pair}) {
      scenario.pattern = pattern;
      SCOPED_TRACE(to_json(scenario, -1));
      Result<CaseTrials> workload = CaseTrials::prepare(*backend_, scenario);
      ASSERT_TRUE(workload) << workload.error().message;
      for (const Scheme scheme : baselines()) {
        const auto plans =
            scheme_plans(scheme, backend_->devices().front().limits, workload->compute().footprint, scenario.collective);
        if (!plans) { continue; }
        const Order order = scheme == Scheme::sequential ? Order::sequential : Order::concurrent;
        const Status verified = workload->verify(order, plans->back());
        EXPECT_TRUE(verified) << to_string(scheme) << ": " << verified.error().message;
      }
    }
  }
}

TEST_F(HipWorkloadTest, ATypeThatRocblasLacksIsRefusedByName) {
  EXPECT_THAT(refusal(small(LibraryGemm{48, 64, 32, DataType::e4m3})),
              HasSubstr("compute.dtype: \"e4m3\", expected \"f32\", \"bf16\" or \"f16\" (rocBLAS multiplies no other)"));
}

TEST_F(HipWorkloadTest, EveryCollectiveIsExactInBothTypesAndWithABudget) {
  backend_ = open();
  ASSERT_NE(nullptr, backend_);
  OverlapPlan budget;
  budget.comm_blocks = Blocks(4);
  for (const CollectiveFacts& facts : collectives()) {
    const CollectiveOp op = facts.op;
    for (const DataType dtype : {DataType::f32, DataType::bf16}) {
      Scenario scenario = small(kSmallGelu, op);
      if (facts.takes == CollectiveFacts::Takes::root) { scenario.collective.root = 1; }
      if (facts.takes == CollectiveFacts::Takes::shares) { scenario.collective.shares = {3, 1}; }
      scenario.collective.dtype = dtype;
      Result<CaseTrials> workload = CaseTrials::prepare(*backend_, scenario);
      ASSERT_TRUE(workload) << workload.error().message;
      for (const OverlapPlan& plan : {OverlapPlan{}, budget}) {
        const Status verified = workload->verify(Order::comm_only, plan);
        EXPECT_TRUE(verified) << to_string(op) << " " << to_string(dtype) << ": " << verified.error().message;
        EXPECT_EQ(plan.comm_blocks ? 4 : 0, fake_rccl_latest_budget());
      }
    }
  }
}

TEST_F(HipWorkloadTest, PaddingReachesTheComputeLaunchesAndNoOthers) {
  const auto workload = prepared(small(kSmallGelu));
  ASSERT_NE(nullptr, workload);
  OverlapPlan plan;
  plan.pad = kibibytes(20);
  fake_hip_reset();
  ASSERT_TRUE(workload->run(Order::concurrent, plan));
  const auto launches = calls("hipModuleLaunchKernel");
  // One iteration when the plan is first run, then three, on two devices.
  EXPECT_EQ(8u, launches.size());
  for (const FakeHipCall& launch : launches) { EXPECT_EQ(20u * 1024, launch.shared); }
  plan.pad = kibibytes(64) + Bytes(1);
  const Result<Microseconds> refused = workload->run(Order::concurrent, plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ("pad_bytes: 65537, expected 0 to 65536 for this kernel", refused.error().message);
}

TEST_F(HipWorkloadTest, InWindowsOnlyWhatRunsAloneIsLaunchedAsItWouldBe) {
  const auto workload = prepared(small(kSmallGelu));
  ASSERT_NE(nullptr, workload);
  OverlapPlan plan;
  plan.pad = kibibytes(20);
  plan.comm_blocks = Blocks(4);
  plan.comm_sms = Sms(14);
  plan.windows_only = true;
  const Status verified = workload->verify(Order::concurrent, plan);
  ASSERT_TRUE(verified) << verified.error().message;
  fake_hip_reset();
  ASSERT_TRUE(workload->run(Order::concurrent, plan));
  // The latest collective is the last one, which has no budget.
  EXPECT_EQ(0, fake_rccl_latest_budget());
  std::vector<std::size_t> shared;
  for (const FakeHipCall& launch : calls("hipModuleLaunchKernel")) { shared.push_back(launch.shared); }
  // Three iterations on two devices, which take turns.
  EXPECT_THAT(shared, ::testing::ElementsAre(0, 0, 20 * 1024, 20 * 1024, 20 * 1024, 20 * 1024));
}

TEST_F(HipWorkloadTest, PriorityPutsTheCollectiveOnAStreamOfTheGreatestAndMakesItOverlap) {
  const auto workload = prepared(small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(1)}));
  ASSERT_NE(nullptr, workload);
  OverlapPlan urgent;
  urgent.priority = true;
  const Result<Microseconds> plain = workload->run(Order::concurrent, {});
  const Result<Microseconds> overlapped = workload->run(Order::concurrent, urgent);
  ASSERT_TRUE(plain && overlapped);
  EXPECT_LT(*overlapped, *plain);
}

TEST_F(HipWorkloadTest, CommSmsMaskTheComputeStream) {
  const auto workload = prepared(small(kSmallGelu));
  ASSERT_NE(nullptr, workload);
  OverlapPlan plan;
  plan.comm_sms = Sms(14);
  fake_hip_reset();
  const Status verified = workload->verify(Order::concurrent, plan);
  ASSERT_TRUE(verified) << verified.error().message;
  const auto made = calls("hipExtStreamCreateWithCUMask");
  ASSERT_EQ(2u, made.size());
  // 110 - 14 = 96 = three words of 32.
  EXPECT_THAT(std::vector(made[1].cu_mask, made[1].cu_mask + 4), ::testing::ElementsAre(~0u, ~0u, ~0u, 0u));
  plan.comm_sms = Sms(110);
  const Status refused = workload->accepts(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ("comm_sms: 110, expected 1 to 109", refused.error().message);
}

TEST_F(HipWorkloadTest, AnSmTargetMasksALibraryGemmOnly) {
  OverlapPlan plan;
  plan.sm_target = Sms(102);
  auto workload = prepared(small(LibraryGemm{48, 64, 32, DataType::bf16}));
  ASSERT_NE(nullptr, workload);
  fake_hip_reset();
  const Status verified = workload->verify(Order::concurrent, plan);
  ASSERT_TRUE(verified) << verified.error().message;
  const auto made = calls("hipExtStreamCreateWithCUMask");
  ASSERT_EQ(2u, made.size());
  EXPECT_EQ((1u << 6) - 1, made[0].cu_mask[3]);  // 102 = 3 * 32 + 6
  plan.comm_sms = Sms(8);
  EXPECT_FALSE(workload->accepts(plan));

  workload = prepared(small(kSmallGelu));
  ASSERT_NE(nullptr, workload);
  plan.comm_sms.reset();
  const Status refused = workload->accepts(plan);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("sm_target: acts on library_gemm only"));
}

TEST_F(HipWorkloadTest, ControlsWithoutACounterpartAreRefusedWithTheirReason) {
  const auto workload = prepared(small(kSmallGelu));
  ASSERT_NE(nullptr, workload);
  const auto reason = [&](auto set) {
    OverlapPlan plan;
    set(plan);
    const Status accepted = workload->accepts(plan);
    EXPECT_FALSE(workload->run(Order::concurrent, plan));
    return accepted ? "accepted" : accepted.error().message;
  };
  EXPECT_THAT(reason([](OverlapPlan& plan) { plan.launch_gate = true; }), HasSubstr("launch_gate: HIP has no event"));
  EXPECT_THAT(reason([](OverlapPlan& plan) { plan.cluster = 1; }), HasSubstr("cluster: HIP launches no clusters"));
  EXPECT_THAT(reason([](OverlapPlan& plan) { plan.carveout = Percent(50); }), HasSubstr("carveout: the LDS"));
  EXPECT_THAT(reason([](OverlapPlan& plan) { plan.comm_threads = Threads(256); }), HasSubstr("comm_threads: RCCL"));
  EXPECT_THAT(reason([](OverlapPlan& plan) { plan.copy_engine = true; }), HasSubstr("copy_engine: "));
  EXPECT_THAT(reason([](OverlapPlan& plan) { plan.symmetric = true; }), HasSubstr("symmetric: "));
  EXPECT_THAT(reason([](OverlapPlan& plan) { plan.peer_detour = true; }), HasSubstr("peer_detour: "));
}

TEST_F(HipWorkloadTest, AnOldRcclRunsButTakesNoBudget) {
  set("ELBOWROOM_FAKE_RCCL_VERSION", "21104");  // ROCm 5.2
  const auto workload = prepared(small(kSmallGelu));
  ASSERT_NE(nullptr, workload);
  EXPECT_TRUE(workload->verify(Order::concurrent, {}));
  OverlapPlan plan;
  plan.comm_blocks = Blocks(8);
  const Status refused = workload->accepts(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ("comm_blocks: RCCL 2.11.4 takes no block budget, expected 2.17 or later", refused.error().message);
}

TEST_F(HipWorkloadTest, NoRecordingIsAReasonAndNoFailure) {
  const auto workload = prepared(small(kSmallGelu));
  ASSERT_NE(nullptr, workload);
  const Result<Timeline> timeline = workload->record(Order::concurrent, {});
  ASSERT_FALSE(timeline);
  EXPECT_EQ(ErrorKind::unavailable, timeline.error().kind);
}

TEST_F(HipWorkloadTest, MoreIterationsThanABatchAreEnqueuedInBatches) {
  Scenario scenario = small(Elementwise{ElementwiseOp::copy, DataType::f32, kibibytes(4)});
  scenario.iterations = 150;
  const auto workload = prepared(scenario);
  ASSERT_NE(nullptr, workload);
  const Status verified = workload->verify(Order::concurrent, {});
  EXPECT_TRUE(verified) << verified.error().message;
}

TEST_F(HipWorkloadTest, WaitsForEverythingItReads) {
  fake_hip_set_lazy(1);
  const auto workload = prepared(small(kSmallGelu, CollectiveOp::all_to_all));
  ASSERT_NE(nullptr, workload);
  for (const Order order : {Order::compute_only, Order::comm_only, Order::sequential, Order::concurrent}) {
    const Status verified = workload->verify(order, {});
    EXPECT_TRUE(verified) << verified.error().message;
  }
}

TEST_F(HipWorkloadTest, WhatCannotBeIsRefusedInTheScenariosWords) {
  Scenario scenario = small(kSmallGelu);
  scenario.compute = Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(1 << 20)};
  EXPECT_THAT(refusal(scenario), HasSubstr("GiB on each GPU, expected at most"));
  scenario.compute = TiledGemm{960, 960, 960, 96, 96, 32, std::nullopt, DataType::f32};
  EXPECT_THAT(refusal(scenario), HasSubstr("96x96x32, expected for f32 one of 64x64x8"));
  scenario = small(kSmallGelu);
  scenario.gpus = 4;
  EXPECT_EQ("gpus: 4, expected at most 2 (devices that HIP shows)", refusal(scenario));
}

}  // namespace
}  // namespace elbowroom
