#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/plan/shape.hpp"
#include "scenarios.hpp"

namespace elbowroom {
namespace {

// 256 threads of 56 registers: four blocks on an SM of H200, 528 at once.
Scenario described(Bytes traffic = Bytes(0)) {
  Scenario scenario = gelu_all_reduce(mebibytes(64), {}, Pattern::pair);
  scenario.compute =
      FootprintKernel{{Threads(256), Registers(56), Bytes(0), Bytes(0), 1}, Blocks(2'640), Microseconds(100), traffic};
  return scenario;
}

double alone(const Scenario& scenario, const OverlapPlan& plan = {}) {
  return simulated("h200", scenario)->run(Order::compute_only, plan)->count();
}

// 2,640 blocks in five waves of 100 us; blocks differ by 2 %.
TEST(FootprintKernels, TakeTheirWaves) { EXPECT_NEAR(alone(described()), 500, 15); }

// At one block per SM there are twenty waves.
TEST(FootprintKernels, AreCapped) {
  OverlapPlan plan;
  plan.pad = Bytes(116'000);
  plan.blocks_per_sm = BlocksPerSm(1);
  EXPECT_NEAR(alone(described(), plan), 2'000, 60);
}

// 2,640 blocks of 4 MiB: 11.07 GB at 4.8 TB/s take 2,307 us at least.
TEST(FootprintKernels, WaitForMemory) { EXPECT_GT(alone(described(mebibytes(4))), 2'300); }

TEST(FootprintKernels, RunBesideACollective) {
  const auto workload = simulated("h200", described());
  EXPECT_TRUE(workload->verify(Order::concurrent, urgent()));
  EXPECT_EQ(workload->compute().blocks, Blocks(2'640));
  EXPECT_EQ(workload->compute().footprint->registers_per_thread, Registers(56));
}

// 8192^3 in f16 as in bf16; in e4m3 7.49 / 13.6 of the time, at the rate that was fitted.
TEST(LibraryProducts, TakeTheRateOfTheirType) {
  Scenario scenario = described();
  const auto time = [&](DataType dtype) {
    scenario.compute = LibraryGemm{8'192, 8'192, 8'192, dtype};
    return alone(scenario);
  };
  const double bf16 = time(DataType::bf16);
  EXPECT_NEAR(time(DataType::f16) / bf16, 1, 0.01);
  EXPECT_NEAR(time(DataType::e4m3) / bf16, 0.55, 0.02);
}

TEST(LibraryProducts, AreRefusedWhereTheRateIsNotKnown) {
  BackendOptions options;
  options.device = "a100";
  Scenario scenario = described();
  scenario.compute = LibraryGemm{8'192, 8'192, 8'192, DataType::e4m3};
  const auto workload = (*open_backend("sim", options))->prepare(scenario);
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().message,
            "compute.dtype: \"e4m3\", expected a type whose rate is known: a100 has no simulator.e4m3_mflops_per_sm");
}

TEST(ModuleKernels, AreRefusedByTheSimulator) {
  BackendOptions options;
  options.device = "h200";
  Scenario scenario = described();
  scenario.compute = ModuleKernel{"own.cubin", "saxpy", {1, 1, 1}, {32, 1, 1}, Bytes(0), 1, {}};
  const auto backend = open_backend("sim", options);
  const auto workload = (*backend)->prepare(scenario);
  ASSERT_FALSE(workload);
  EXPECT_THAT(workload.error().message,
              ::testing::HasSubstr("compute.kernel: module (saxpy), expected one whose work the simulator"));
}

}  // namespace
}  // namespace elbowroom
