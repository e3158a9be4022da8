#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "backend/leaves.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/critical_path.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/plan/shape.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"
#include "scenarios.hpp"

namespace elbowroom {
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

TEST(SimBackend, OffersEveryDeviceOfTheCatalogForAsManyRanksAsStepsHave) {
  for (const char* name : {"a40", "a100", "h100", "h200", "b200", "mi250x", "mi300x"}) {
    const std::unique_ptr<Backend> backend = sim(name);
    EXPECT_EQ(backend->devices().size(), 4'096U);
    EXPECT_EQ(backend->devices().front().limits.name, name);
    EXPECT_GT(backend->devices().front().memory, kibibytes(1 << 20));
    EXPECT_EQ(backend->provenance(), Provenance::simulated);
    auto workload = CaseTrials::prepare(*backend, gemm_all_reduce(8));
    ASSERT_TRUE(workload) << name << ": " << workload.error().message;
    const auto sequential = workload->run(Order::sequential, {});
    const auto overlapped = workload->run(Order::concurrent, urgent());
    ASSERT_TRUE(sequential && overlapped) << name;
    EXPECT_GT(overlapped->count(), 0) << name;
  }
  EXPECT_EQ(sim()->devices().front().limits.name, "h200");
  BackendOptions unknown;
  unknown.device = "h900";
  EXPECT_FALSE(detail::open_sim(unknown));
}

TEST(SimBackend, SequentialIsTheSumOfItsParts) {
  auto workload = simulated("h200", gemm_all_reduce());
  const double compute = workload->run(Order::compute_only, {})->count();
  const double comm = workload->run(Order::comm_only, {})->count();
  const double sequential = workload->run(Order::sequential, {})->count();
  EXPECT_NEAR(sequential / (compute + comm), 1, 0.01);
}

TEST(SimBackend, TimelineHoldsEveryKernelOfEveryDeviceAlike) {
  auto workload = simulated("h200", gemm_all_reduce(4));
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
  auto workload = simulated("h200", gemm_all_reduce());
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
  auto unshaped = simulated("h200", library);
  EXPECT_FALSE(unshaped->compute().footprint.has_value());
  EXPECT_TRUE(unshaped->compute().shape_refusal);
  plan = {};
  plan.pad = kibibytes(1);
  EXPECT_FALSE(unshaped->run(Order::concurrent, plan));
  plan = {};
  plan.sm_target = Sms(108);
  EXPECT_TRUE(unshaped->run(Order::concurrent, plan));
}

std::string refusal(CaseTrials& workload, const OverlapPlan& plan) {
  const Result<Microseconds> time = workload.run(Order::concurrent, plan);
  return time ? "" : time.error().message;
}

TEST(SimBackend, CommThreadsMakeSmallerAndSlowerBlocks) {
  auto workload = simulated("h200", gemm_all_reduce());
  OverlapPlan small;
  small.comm_threads = Threads(128);
  // 24 blocks of 128 movers at 90 B/us each reach 276 GB/s, less than the links' 357.
  EXPECT_GT(*workload->run(Order::comm_only, small) / *workload->run(Order::comm_only, {}), 1.2);
  const Timeline timeline = *workload->record(Order::comm_only, small);
  EXPECT_EQ(timeline.spans.front().launch->block, Threads(160));  // and the warp that synchronizes

  for (const std::int64_t threads : {96, 200, 672}) {
    small.comm_threads = Threads(threads);
    EXPECT_THAT(refusal(*workload, small), ::testing::HasSubstr("expected a multiple of 32 from 128 to 640"));
  }
  small.comm_threads = Threads(256);
  Scenario exchange = gemm_all_reduce();
  exchange.collective.op = CollectiveOp::all_to_all;
  EXPECT_THAT(refusal(*simulated("h200", exchange), small), ::testing::HasSubstr("comm_threads"));
  EXPECT_THAT(refusal(*simulated("mi250x", gemm_all_reduce()), small), ::testing::HasSubstr("RCCL"));
}

TEST(SimBackend, AnAmdDeviceHasNoGate) {
  OverlapPlan gated;
  gated.launch_gate = true;
  EXPECT_THAT(refusal(*simulated("mi250x", gemm_all_reduce()), gated), ::testing::HasSubstr("launch_gate: HIP"));
}

TEST(SimBackend, APartitionKeepsComputeOffItsSms) {
  // 264 blocks that fill an SM each are two waves on 132 SMs and three on 124.
  Scenario scenario = gemm_all_reduce();
  scenario.compute = TiledGemm{2'112, 2'048, 2'048, 64, 64, 64, GridShape{8, 33}, DataType::f32};
  auto workload = simulated("h200", scenario);
  OverlapPlan parted = *shape_to(sim()->devices().front().limits, *workload->compute().footprint, BlocksPerSm(1));
  const Microseconds whole = *workload->run(Order::compute_only, parted);
  parted.comm_sms = Sms(1);  // rounded up to 8
  EXPECT_NEAR(*workload->run(Order::compute_only, parted) / whole, 1.5, 0.1);
  EXPECT_EQ(workload->run(Order::comm_only, parted)->count(), workload->run(Order::comm_only, {})->count());
  // A persistent kernel sizes itself for what is left: 2,048 tiles are 16 rounds of 132 SMs and 19 of 108.
  scenario.compute = LibraryGemm{8'192, 8'192, 8'192, DataType::bf16};
  auto library = simulated("h200", scenario);
  OverlapPlan most;
  most.comm_sms = Sms(24);
  EXPECT_NEAR(*library->run(Order::compute_only, most) / *library->run(Order::compute_only, {}), 19.0 / 16.0, 0.02);
  for (const std::int64_t sms : {0, 129, 132}) {
    parted.comm_sms = Sms(sms);
    EXPECT_THAT(refusal(*workload, parted), ::testing::HasSubstr("comm_sms")) << sms;
  }
}

TEST(SimBackend, AMaskOfComputeUnitsIsNotRounded) {
  // 218 blocks, one on a unit: two waves on 109 of the 110 units, three on 108.
  Scenario scenario = gemm_all_reduce();
  scenario.compute = TiledGemm{6'976, 2'048, 2'048, 64, 64, 64, GridShape{2, 109}, DataType::f32};
  auto workload = simulated("mi250x", scenario);
  OverlapPlan parted = *shape_to(sim("mi250x")->devices().front().limits, *workload->compute().footprint, BlocksPerSm(1));
  const Microseconds whole = *workload->run(Order::compute_only, parted);
  parted.comm_sms = Sms(1);
  EXPECT_NEAR(*workload->run(Order::compute_only, parted) / whole, 1.0, 0.02);
  parted.comm_sms = Sms(2);
  EXPECT_NEAR(*workload->run(Order::compute_only, parted) / whole, 1.5, 0.1);
}

TEST(SimBackend, CarveOutCapsTheKernelsThatItIsTooSmallFor) {
  // Blocks of 8,448 B and 1 KiB: three per SM by registers. No preference for shared memory: one fits into the least step, 16 KiB.
  auto workload = simulated("h200", gemm_all_reduce());
  OverlapPlan carved;
  carved.carveout = Percent(100);
  EXPECT_EQ(workload->run(Order::compute_only, carved)->count(), workload->run(Order::compute_only, {})->count());
  carved.carveout = Percent(0);
  EXPECT_GT(*workload->run(Order::compute_only, carved) / *workload->run(Order::compute_only, {}), 1.5);
  carved.carveout = Percent(101);
  EXPECT_THAT(refusal(*workload, carved), ::testing::HasSubstr("carveout: 101, expected 0 to 100 percent"));
}

TEST(SimBackend, InWindowsOnlyTheEndsOfAPipelineAreSpared) {
  Scenario scenario = gemm_all_reduce();
  auto workload = simulated("h200", scenario);
  OverlapPlan plan = urgent();
  plan.comm_blocks = Blocks(4);
  plan.pad = kibibytes(40);
  const double everywhere = workload->run(Order::concurrent, plan)->count();
  plan.windows_only = true;
  EXPECT_LT(workload->run(Order::concurrent, plan)->count(), everywhere);

  const Timeline timeline = *workload->record(Order::concurrent, plan);
  std::vector<Span> compute;
  std::vector<Span> comm;
  for (const Span& span : timeline.spans) {
    if (span.device == 0) { (span.kind == SpanKind::compute ? compute : comm).push_back(span); }
  }
  ASSERT_EQ(compute.size(), 3U);
  ASSERT_EQ(comm.size(), 3U);
  const Bytes own = compute[0].launch->dynamic_shared;
  EXPECT_EQ(compute[1].launch->dynamic_shared - own, kibibytes(40));
  EXPECT_EQ(compute[2].launch->dynamic_shared - own, kibibytes(40));
  EXPECT_EQ(comm[0].launch->grid, Blocks(4));
  EXPECT_EQ(comm[1].launch->grid, Blocks(4));
  EXPECT_EQ(comm[2].launch->grid, Blocks(24));
  for (std::size_t at = 0; at < 3; ++at) {
    EXPECT_EQ(compute[at].stream, 0);
    EXPECT_EQ(comm[at].stream, 1);
  }
  EXPECT_LE(compute[0].end, comm[0].begin);
  EXPECT_LE(compute[2].end, comm[2].begin);
  EXPECT_LE(comm[1].end, comm[2].begin);

  // Where nothing of the plan lasts, the same launches come in the same order.
  OverlapPlan order = urgent();
  const double plain = workload->run(Order::concurrent, order)->count();
  order.windows_only = true;
  EXPECT_EQ(workload->run(Order::concurrent, order)->count(), plain);

  scenario.pattern = Pattern::pair;
  scenario.iterations = 1;
  const Status refused = simulated("h200", scenario)->accepts(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "windows_only: both sides run at once from the beginning to the end");
}

OverlapPlan by_copy_engines() {
  OverlapPlan plan;
  plan.copy_engine = true;
  return plan;
}

// Recorded on two H200: a reduce-scatter of 512 MiB with 32 blocks 0.879 ms, then a copy of 256 MiB 0.686 ms
// (results/h200/timelines-copies-controls-2gpu.trace.json.gz).
TEST(SimBackend, CopyEnginesGatherWhatKernelsReduced) {
  auto workload = simulated("h200", gelu_all_reduce(mebibytes(1'024)));
  OverlapPlan plan = by_copy_engines();
  plan.comm_blocks = Blocks(32);
  const Timeline timeline = *workload->record(Order::comm_only, plan);
  ASSERT_GE(timeline.spans.size(), 2U);
  const Span& reduce = timeline.spans[0];
  const Span& copy = timeline.spans[1];
  EXPECT_EQ(reduce.name, "reduce_scatter");
  EXPECT_EQ(reduce.launch->grid, Blocks(32));
  EXPECT_EQ(copy.name, "copies to peers");
  EXPECT_EQ(copy.kind, SpanKind::communication);
  EXPECT_FALSE(copy.launch);
  EXPECT_NEAR(static_cast<double>((reduce.end - reduce.begin).count()) / 879e3, 1, 0.05);
  EXPECT_NEAR(static_cast<double>((copy.end - copy.begin).count()) / 686e3, 1, 0.01);
  EXPECT_GT(copy.begin, reduce.end);
}

TEST(SimBackend, OfWhatOnlyMovesAKernelCopiesTheRanksOwnShare) {
  // 256 MiB of 512 stay on the device: 0.132 ms alone on an H200.
  Scenario scenario = gelu_all_reduce(mebibytes(1'024));
  scenario.collective.op = CollectiveOp::all_gather;
  auto workload = simulated("h200", scenario);
  const Timeline timeline = *workload->record(Order::comm_only, by_copy_engines());
  ASSERT_GE(timeline.spans.size(), 2U);
  EXPECT_EQ(timeline.spans[0].name, "copy within the device");
  EXPECT_NEAR(static_cast<double>((timeline.spans[0].end - timeline.spans[0].begin).count()) / 132e3, 1, 0.05);
  EXPECT_EQ(timeline.spans[1].name, "copies to peers");
}

// Recorded on two H200: 448 MiB take 1.197 ms to a peer, and as long each way where they go there and back (cb-a2a-opt1-16384,
// results/h200/timelines-detour-2gpu.trace.json.gz). What is gathered is at the peer already and only comes back.
TEST(SimBackend, ADetourTakesTheLinksLongerAndNoSm) {
  for (const auto& [op, ways] : {std::pair{CollectiveOp::all_gather, 2}, {CollectiveOp::all_to_all, 3}}) {
    Scenario scenario = gelu_all_reduce(mebibytes(1'024));
    scenario.collective.op = op;
    scenario.collective.bytes = mebibytes(896);
    OverlapPlan plan = by_copy_engines();
    plan.peer_detour = true;
    auto workload = simulated("h200", scenario);
    const Timeline timeline = *workload->record(Order::comm_only, plan);
    for (const Span& span : timeline.spans) { EXPECT_EQ(span.name, "copies to peers"); }
    const Span& first = timeline.spans.front();
    EXPECT_NEAR(static_cast<double>((first.end - first.begin).count()) / (ways * 1'197e3), 1, 0.01) << to_string(op);
  }
}

// Recorded on two H200, alone (results/h200/timelines-symmetric-library-2gpu.trace.json.gz): an all-reduce of 512 MiB
// takes 2.33 ms with the library's 7 blocks and 1.606 ms with 16; an all-gather 1.20 and 0.758, a reduce-scatter of 128 MiB 0.414
// and 0.240.
TEST(SimBackend, OnSymmetricMemoryFewBlocksFillTheLinks) {
  struct Recorded {
    CollectiveOp op;
    Bytes bytes;
    double own, sixteen;
  };
  for (const Recorded& each : {Recorded{CollectiveOp::all_reduce, mebibytes(512), 2'330e3, 1'606e3},
                               {CollectiveOp::all_gather, mebibytes(512), 1'200e3, 758e3},
                               {CollectiveOp::reduce_scatter, mebibytes(128), 414e3, 240e3}}) {
    Scenario scenario = gelu_all_reduce(mebibytes(1'024));
    scenario.collective.op = each.op;
    scenario.collective.bytes = each.bytes;
    auto workload = simulated("h200", scenario);
    OverlapPlan plan;
    plan.symmetric = true;
    const auto span = [&] { return workload->record(Order::comm_only, plan)->spans.front(); };
    const auto length = [&] { return static_cast<double>((span().end - span().begin).count()); };
    EXPECT_NEAR(length() / each.own, 1, 0.1) << to_string(each.op);
    EXPECT_EQ(span().name, fmt::format("{} on symmetric memory", to_string(each.op)));
    EXPECT_EQ(span().launch->grid, Blocks(each.op == CollectiveOp::all_reduce ? 7 : 9));
    plan.comm_blocks = Blocks(16);
    EXPECT_NEAR(length() / each.sixteen, 1, 0.1) << to_string(each.op);
  }
}

TEST(SimBackend, SymmetricMemoryIsRefusedWhereNoKernelUsesIt) {
  OverlapPlan plan;
  plan.symmetric = true;
  Scenario scenario = gelu_all_reduce(mebibytes(64));
  EXPECT_EQ(refusal(*simulated("a40", scenario), plan), "symmetric: NCCL's kernels on symmetric memory need NVLink, a40 has none");
  EXPECT_EQ(refusal(*simulated("mi300x", scenario), plan), "symmetric: kernels on symmetric memory are NCCL's");
  scenario.collective.op = CollectiveOp::all_to_all;
  EXPECT_EQ(refusal(*simulated("h200", scenario), plan),
            "symmetric: true with all_to_all, expected false (NCCL's send and receive have no such kernel)");
}

TEST(SimBackend, CopyEnginesAreRefusedWhereNoCollectiveUsesThem) {
  Scenario scenario = gelu_all_reduce(mebibytes(64));
  EXPECT_EQ(refusal(*simulated("a40", scenario), by_copy_engines()),
            "copy_engine: NCCL's collectives by copy engines need NVLink, a40 has none");
  EXPECT_EQ(refusal(*simulated("mi300x", scenario), by_copy_engines()), "copy_engine: copy-engine collectives are NCCL's");
  scenario.collective.op = CollectiveOp::reduce_scatter;
  EXPECT_EQ(refusal(*simulated("h200", scenario), by_copy_engines()),
            "copy_engine: true with reduce_scatter, expected false (copy engines do not add)");
}

TEST(SimBackend, AScenarioBeyondTheDevicesMemoryIsRefused) {
  // 32 GiB read and as many written, 1 GiB for the all-reduce: 65 GiB, an A40 has 48.
  const auto refused = sim("a40")->prepare(gelu_all_reduce(mebibytes(32 * 1'024)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("65.0 GiB on each GPU, expected at most 48.0 GiB (memory of a40)"));
  EXPECT_TRUE(sim("h200")->prepare(gelu_all_reduce(mebibytes(32 * 1'024))));
}

// The sequences are those of the seed: two backends agree call by call.
TEST(SimBackend, NoiseScattersRunsAndIsOffByDefault) {
  const auto times = [](std::uint64_t seed) {
    BackendOptions options;
    options.seed = seed;
    auto workload = std::move(*CaseTrials::prepare(**detail::open_sim(options), gemm_all_reduce()));
    std::vector<double> drawn;
    for (int trial = 0; trial < 4; ++trial) { drawn.push_back(workload.run(Order::concurrent, {})->count()); }
    return drawn;
  };
  const std::vector<double> quiet = times(1);
  EXPECT_EQ(quiet, std::vector(4, quiet.front()));
  ASSERT_EQ(setenv("ELBOWROOM_SIM_NOISE", "3", 1), 0);
  const std::vector<double> noisy = times(1);
  EXPECT_EQ(noisy, times(1));
  EXPECT_NE(noisy, times(2));
  EXPECT_NE(noisy[0], noisy[1]);
  for (const double time : noisy) { EXPECT_NEAR(time / quiet.front(), 1, 0.2); }
  ASSERT_EQ(setenv("ELBOWROOM_SIM_NOISE", "loud", 1), 0);
  EXPECT_FALSE(detail::open_sim({}));
  ASSERT_EQ(unsetenv("ELBOWROOM_SIM_NOISE"), 0);
}

// The critical path of the pattern: each operation at its isolated time.
TEST(SimBackend, NoScheduleOfOneTransportBeatsTheCriticalPath) {
  for (const char* device : {"a40", "a100", "h200", "mi250x"}) {
    for (const Pattern pattern : {Pattern::pipeline, Pattern::pair}) {
      for (const std::int64_t mib : {64, 512, 2'048}) {
        const Scenario scenario = gelu_all_reduce(mebibytes(mib), std::nullopt, pattern);
        const auto workload = simulated(device, scenario);
        const Microseconds shortest =
            critical_path(scenario, *workload->run(Order::compute_only, {}), *workload->run(Order::comm_only, {}));
        for (const OverlapPlan& plan : {OverlapPlan{}, urgent()}) {
          EXPECT_GE(*workload->run(Order::concurrent, plan), shortest) << device << " " << mib;
        }
      }
    }
  }
}

TEST(SimBackend, ShapingTakesResidencyAway) {
  auto workload = simulated("h200", gemm_all_reduce());
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
}  // namespace elbowroom
