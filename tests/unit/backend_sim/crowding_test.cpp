#include "backend_sim/crowding.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "backend_sim/calibration.hpp"
#include "backend_sim/compute_model.hpp"
#include "backend_sim/performance.hpp"
#include "elbowroom/plan/pad_ranges.hpp"
#include "small_machine.hpp"

namespace elbowroom::sim {
namespace {

TEST(Crowding, EqualWavesBeatAFullOneAndARest) {
  // 9 blocks of 10 us on 3 SMs with room for two each, and memory for as much as 3 blocks move: 6 and then 3 blocks take
  // 10 x (sqrt(1 + 2^2) + sqrt(1 + 1^2)) = 36.50 us. On 2 SMs: 4, 4 and 1 take 10 x (2 x sqrt(1 + (4/3)^2) + sqrt(1 + (1/3)^2))
  // = 43.87 us.
  ComputeProfile kernel = compute(9);
  kernel.traffic = 1'000;
  kernel.memory_share = 1;
  Machine three = machine(3);
  three.memory_rate = 300;
  const auto use_of = [&](const Machine& machine) { return uncrowded(machine, h200(), sim::kernel(kernel))->kernel.left_out; };
  EXPECT_EQ(use_of(three), 0);
  // 4 SMs: 8 and 1 take 10 x (sqrt(1 + (8/3)^2) + sqrt(1 + (1/3)^2)) = 39.02 us. One SM left alone: 36.50 us.
  Machine four = three;
  four.sms = 4;
  EXPECT_EQ(use_of(four), 1);
}

TEST(Crowding, AKernelWithMemoryToSpareTakesEverySm) {
  EXPECT_EQ(uncrowded(machine(4), h200(), kernel(compute(9)))->kernel.left_out, 0);
}

// 15 tiles of 3 us, which move 20 us' worth of memory's bytes each. A block begins and ends in 1 us, a third of a tile. 15 blocks
// take 4/3 x sqrt(3^2 + (15 x 20)^2) = 400.02 us. One takes 15 1/3 x sqrt(3^2 + 20^2) = 310.10 us. So the search must not end
// where 15 SMs cannot do better than 16.
TEST(Crowding, APersistentKernelMayDoBestWithFarFewerSms) {
  ComputeProfile kernel = compute(15);
  kernel.tile_time = {3};
  kernel.footprint.dynamic_shared = kPadToOne;
  kernel.traffic = 20'000;
  kernel.memory_share = 1;
  kernel.persistent = true;
  kernel.block_overhead = 1;
  Machine sixteen = machine(16);
  sixteen.memory_rate = 1'000;
  const Result<AloneOnGpu> alone = uncrowded(sixteen, h200(), sim::kernel(kernel));
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->kernel.left_out, 15);
  EXPECT_NEAR(alone->end, 310.10, 0.01);
}

Compute any_kernel() {
  const DataType dtype = *rc::gen::element(DataType::f32, DataType::bf16);
  const std::int64_t n = 128 * *rc::gen::inRange(1, 20);
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return Elementwise{ElementwiseOp::gelu, dtype, Bytes(*rc::gen::inRange(1, 40'000) * std::int64_t{1'024})};
    case 1:
      return LibraryGemm{n, n, n, dtype};
    default:
      break;
  }
  const std::int64_t tile = *rc::gen::element(64, 128);
  TiledGemm gemm{n, n, n, tile, tile, 32, std::nullopt, dtype};
  // Tiles divide unevenly among a grid's blocks.
  if (*rc::gen::arbitrary<bool>()) { gemm.grid = GridShape{*rc::gen::inRange(1, 40), *rc::gen::inRange(1, 40)}; }
  return gemm;
}

struct Alone {
  Compute kernel;
  Bytes pad;
  int iterations = 1;
};

/// A kernel of the project at one of its residencies.
Alone any_alone(const DeviceLimits& device) {
  Alone alone{any_kernel(), Bytes(0), *rc::gen::inRange(1, 3)};
  if (std::holds_alternative<LibraryGemm>(alone.kernel)) { return alone; }
  const std::vector<PadRange> ranges = *pad_ranges(device, compute_profile(alone.kernel, device)->footprint);
  alone.pad = ranges[*rc::gen::inRange<std::size_t>(0, ranges.size())].pad_min;
  return alone;
}

double time_alone(const Alone& alone, const DeviceLimits& device, double bandwidth = 1) {
  MeasuredCase what;
  what.machine = machine_of(device);
  what.machine.memory_rate *= bandwidth;
  what.compute = *compute_profile(alone.kernel, device);
  Scenario scenario;
  scenario.compute = alone.kernel;
  scenario.iterations = alone.iterations;
  what.step = step_of(scenario);
  OverlapPlan plan;
  plan.pad = alone.pad;
  return simulate(what, Order::compute_only, plan, device)->end;
}

DeviceLimits any_device() {
  std::vector<DeviceLimits> simulated;
  std::ranges::copy_if(device_catalog(), std::back_inserter(simulated),
                       [](const DeviceLimits& one) { return check_simulable(one).ok(); });
  DeviceLimits device = *rc::gen::elementOf(simulated);
  device.sms = Sms(*rc::gen::inRange(1, 160));
  return device;
}

constexpr double kRounding = 1 + 1e-9;

RC_GTEST_PROP(KernelAlone, MoreSmsNeverSlowIt, ()) {
  const DeviceLimits less = any_device();
  const Alone alone = any_alone(less);
  DeviceLimits more = less;
  more.sms = less.sms + Sms(*rc::gen::inRange(1, 24));
  RC_ASSERT(time_alone(alone, more) <= time_alone(alone, less) * kRounding);
}

RC_GTEST_PROP(KernelAlone, MoreBandwidthNeverSlowsIt, ()) {
  const DeviceLimits device = any_device();
  const Alone alone = any_alone(device);
  const double more = 1 + 0.01 * *rc::gen::inRange(0, 400);
  RC_ASSERT(time_alone(alone, device, more) <= time_alone(alone, device) * kRounding);
}

}  // namespace
}  // namespace elbowroom::sim
