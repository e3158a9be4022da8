#include <gtest/gtest.h>

#include "backend/leaves.hpp"
#include "headroom/plan/shape.hpp"
#include "headroom/trace/overlap_metrics.hpp"

namespace headroom {
namespace {

std::unique_ptr<Backend> sim(const std::string& device = "auto") {
  BackendOptions options;
  options.device = device;
  return std::move(*detail::open_sim(options));
}

Scenario gemm_all_reduce(int gpus = 2) {
  Scenario scenario;
  scenario.name = "gemm-ar";
  scenario.gpus = gpus;
  scenario.iterations = 3;
  scenario.compute = TiledGemm{2'048, 2'048, 2'048, 64, 64, 16, std::nullopt, DataType::f32};
  scenario.collective.bytes = mebibytes(64);
  return scenario;
}

OverlapPlan urgent() {
  OverlapPlan plan;
  plan.priority = true;
  return plan;
}

TEST(SimBackend, OffersEveryDeviceOfTheCatalogEightTimes) {
  for (const char* name : {"a40", "a100", "h100", "h200", "b200", "mi250x", "mi300x"}) {
    const std::unique_ptr<Backend> backend = sim(name);
    EXPECT_EQ(backend->devices().size(), 8U);
    EXPECT_EQ(backend->devices().front().limits.name, name);
    EXPECT_GT(backend->devices().front().memory, kibibytes(1 << 20));
    EXPECT_EQ(backend->provenance(), Provenance::simulated);
    auto workload = backend->prepare(gemm_all_reduce(8));
    ASSERT_TRUE(workload) << name << ": " << workload.error().message;
    const auto sequential = (*workload)->run(Order::sequential, {});
    const auto overlapped = (*workload)->run(Order::concurrent, urgent());
    ASSERT_TRUE(sequential && overlapped) << name;
    EXPECT_GT(overlapped->count(), 0) << name;
  }
  EXPECT_EQ(sim()->devices().front().limits.name, "h200");
  BackendOptions unknown;
  unknown.device = "h900";
  EXPECT_FALSE(detail::open_sim(unknown));
}

TEST(SimBackend, SequentialIsTheSumOfItsParts) {
  auto workload = std::move(*sim()->prepare(gemm_all_reduce()));
  const double compute = workload->run(Order::compute_only, {})->count();
  const double comm = workload->run(Order::comm_only, {})->count();
  const double sequential = workload->run(Order::sequential, {})->count();
  EXPECT_NEAR(sequential / (compute + comm), 1, 0.01);
}

TEST(SimBackend, TimelineHoldsEveryKernelOfEveryDeviceAlike) {
  auto workload = std::move(*sim()->prepare(gemm_all_reduce(4)));
  const Timeline timeline = *workload->record(Order::concurrent, urgent());
  EXPECT_EQ(timeline.provenance, Provenance::simulated);
  ASSERT_EQ(timeline.spans.size(), 4U * 3U * 2U);
  Nanoseconds last{0};
  for (std::size_t at = 0; at < 6; ++at) {
    for (std::size_t device = 1; device < 4; ++device) {
      EXPECT_EQ(timeline.spans[device * 6 + at].begin, timeline.spans[at].begin);
      EXPECT_EQ(timeline.spans[device * 6 + at].end, timeline.spans[at].end);
      EXPECT_EQ(timeline.spans[device * 6 + at].device, static_cast<int>(device));
    }
    last = std::max(last, timeline.spans[at].end);
  }
  EXPECT_NEAR(static_cast<double>(last.count()) / 1'000, workload->run(Order::concurrent, urgent())->count(), 0.001);
  EXPECT_GT(*overlap_rate(timeline), 0.3);
}

TEST(SimBackend, ControlsThatCannotActAreRefused) {
  auto workload = std::move(*sim()->prepare(gemm_all_reduce()));
  OverlapPlan plan;
  plan.sm_target = Sms(100);
  EXPECT_FALSE(workload->run(Order::concurrent, plan));
  plan = {};
  plan.pad = kibibytes(228);
  EXPECT_FALSE(workload->run(Order::concurrent, plan));
  plan = {};
  plan.cluster = 16;
  EXPECT_FALSE(workload->run(Order::concurrent, plan));
  plan = {};
  plan.comm_blocks = Blocks(0);
  EXPECT_FALSE(workload->run(Order::concurrent, plan));

  Scenario library = gemm_all_reduce();
  library.compute = LibraryGemm{4'096, 4'096, 4'096, DataType::bf16};
  auto unshaped = std::move(*sim()->prepare(library));
  EXPECT_FALSE(unshaped->compute().footprint.has_value());
  EXPECT_FALSE(unshaped->compute().shape_refusal.empty());
  plan = {};
  plan.pad = kibibytes(1);
  EXPECT_FALSE(unshaped->run(Order::concurrent, plan));
  plan = {};
  plan.sm_target = Sms(108);
  EXPECT_TRUE(unshaped->run(Order::concurrent, plan));
}

TEST(SimBackend, ShapingTakesResidencyAway) {
  auto workload = std::move(*sim()->prepare(gemm_all_reduce()));
  const auto& footprint = *workload->compute().footprint;
  const OverlapPlan one = *shape_to(sim()->devices().front().limits, footprint, BlocksPerSm(1));
  // A latency-bound kernel at one block per SM instead of three: three times as long, less what the other blocks cost each other.
  EXPECT_GT(*workload->run(Order::compute_only, one) / *workload->run(Order::compute_only, {}), 1.5);
}

TEST(SimBackend, UnknownTilesAreRefused) {
  Scenario scenario = gemm_all_reduce();
  scenario.compute = TiledGemm{2'048, 2'048, 2'048, 32, 32, 32, std::nullopt, DataType::f32};
  EXPECT_FALSE(sim()->prepare(scenario));
}

}  // namespace
}  // namespace headroom
