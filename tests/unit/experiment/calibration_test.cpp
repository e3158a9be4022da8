#include "elbowroom/experiment/calibration.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/model/device_file.hpp"
#include "elbowroom/model/step.hpp"
#include "experiment/calibration_cases.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A board that no catalog has: an H200 of which other constants are true.
DeviceLimits other_board() {
  DeviceLimits device = *find_device("h200");
  auto facts = std::make_shared<DeviceFacts>(*facts_of(device));
  SimulatedSpeeds& speeds = *facts->simulated;
  speeds.f32_rate *= 0.8;
  speeds.tensor_rate *= 1.2;
  speeds.memory_rate *= 0.7;
  speeds.link_rate *= 0.6;
  speeds.load_latency *= 1.15;
  speeds.comm_sm_rate *= 0.85;
  speeds.comm_thread_rate *= 0.85;
  speeds.comm_startup *= 1.5;
  speeds.one_way_blocks *= 0.8;
  device.facts = std::move(facts);
  device.name = "my-board";
  return device;
}

std::unique_ptr<Backend> machine_of(const DeviceLimits& device) {
  BackendOptions options;
  options.described = device;
  options.predicts = true;
  return *open_backend("sim", options);
}

Status nothing(std::string_view) { return {}; }

/// Cases that tell the constants apart and are simulated in little time: elementwise kernels of few blocks, links that are full.
std::vector<Scenario> small_cases() {
  using enum CollectiveOp;
  const auto gelu = [](std::int64_t mib) { return Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(mib)}; };
  const auto tiled = [](DataType dtype, std::int64_t size, int tile, int k) {
    return TiledGemm{size, size, size, tile, tile, k, std::nullopt, dtype};
  };
  std::vector<Scenario> cases;
  const auto add = [&](Compute compute, CollectiveOp op, std::int64_t mib, std::int64_t blocks) {
    cases.push_back({fmt::format("case-{}", cases.size()),
                     2,
                     2,
                     Pattern::pipeline,
                     std::move(compute),
                     {op, mebibytes(mib), DataType::bf16, Blocks(blocks), std::nullopt}});
  };
  add(gelu(16), all_reduce, 4, 2);
  add(gelu(16), all_reduce, 48, 24);
  add(gelu(16), all_gather, 96, 24);
  add(gelu(16), reduce_scatter, 8, 4);
  add(tiled(DataType::f32, 1536, 64, 16), all_reduce, 64, 24);
  add(tiled(DataType::f32, 1536, 64, 64), all_gather, 16, 4);
  add(tiled(DataType::bf16, 2048, 64, 64), reduce_scatter, 64, 24);
  add(tiled(DataType::bf16, 2048, 128, 64), all_reduce, 16, 4);
  add(LibraryGemm{2048, 4096, 4096, DataType::bf16}, all_reduce, 32, 8);
  return cases;
}

double ratio_of(const Calibration& made, const std::string& name) {
  const auto found = std::ranges::find(made.constants, name, &FittedConstant::name);
  return found->fitted / found->start;
}

// The oracle is the machine: its constants, which the fit does not see, are those that it has to find. It begins with H200's.
void expect_constants_of_other_board(const Calibration& made) {
  EXPECT_EQ(made.start, "h200");
  EXPECT_NEAR(ratio_of(made, "memory_mb_per_s"), 0.7, 0.02);
  EXPECT_NEAR(ratio_of(made, "bf16_mflops_per_sm"), 1.2, 0.03);
  EXPECT_NEAR(ratio_of(made, "link_mb_per_s"), 0.6, 0.02);
  EXPECT_NEAR(ratio_of(made, "load_latency"), 1.15, 0.03);
  EXPECT_NEAR(ratio_of(made, "comm_sm_mb_per_s"), 0.85, 0.02);
  EXPECT_NEAR(ratio_of(made, "comm_startup_us"), 1.5, 0.1);
  EXPECT_NEAR(ratio_of(made, "one_way_blocks"), 0.8, 0.02);
}

void expect_width_of_what_was_held_out(const Calibration& made) {
  const auto held_out = std::ranges::count_if(made.points, &CalibrationPoint::held_out);
  const auto pairs =
      std::ranges::count_if(made.points, [](const CalibrationPoint& point) { return point.schedule.starts_with("both"); });
  EXPECT_EQ(held_out, pairs / 3);
  double worst = 0;
  for (const CalibrationPoint& point : made.points) {
    if (point.held_out) { worst = std::max(worst, point.error()); }
  }
  EXPECT_DOUBLE_EQ(made.worst, worst);
  EXPECT_LT(made.worst, 0.05);
  EXPECT_LE(made.median, made.nine_in_ten);
  EXPECT_LE(made.nine_in_ten, made.worst);
  EXPECT_DOUBLE_EQ(made.device.facts->model->width, made.worst);
}

void expect_file_that_the_simulator_takes(const Calibration& made) {
  const Result<DeviceLimits> read = parse_device(device_file(made, "1.2.3"), "mine.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "my-board");
  EXPECT_EQ(read->facts->simulated->gpcs, 1) << "not known";
  EXPECT_EQ(read->facts->simulated->memory_rate, made.device.facts->simulated->memory_rate);
  const std::unique_ptr<Backend> simulator = machine_of(*read);
  const std::optional<ModelWidth>& model = simulator->devices().front().model;
  EXPECT_DOUBLE_EQ(model->width, made.worst);
  EXPECT_EQ(model->basis, Basis::fitted);
  EXPECT_THAT(model->source, StartsWith("elbowroom calibrate 1.2.3 on "));
  EXPECT_THAT(model->source, HasSubstr("held out"));
}

// One fit for all of it: it takes seconds.
TEST(Calibration, FindsTheMachineAndSaysHowFarOffItIs) {
  const Result<Calibration> made = calibrate(*machine_of(other_board()), {2, 1, 1, small_cases()}, nothing);
  ASSERT_TRUE(made) << made.error().message;
  expect_constants_of_other_board(*made);
  expect_width_of_what_was_held_out(*made);
  expect_file_that_the_simulator_takes(*made);
}

// So that nine in ten says something: of 24 at least two lie beyond.
TEST(Calibration, HoldsOutTwentyFourPairsOrMore) {
  // Both, both with priority; where a kernel can be capped, both at 2 blocks per SM too.
  std::size_t pairs = 0;
  for (const Scenario& scenario : detail::calibration_cases(2)) {
    EXPECT_TRUE(validate(scenario)) << scenario.name;
    const Bytes data = memory_per_device(step_of(scenario));
    EXPECT_LE(data, mebibytes(3 * 1024)) << scenario.name;
    pairs += std::holds_alternative<LibraryGemm>(scenario.compute) ? 2 : 3;
  }
  EXPECT_GE(pairs / 3, 24u);
}

TEST(Calibration, AnInterruptionEndsIt) {
  int steps = 0;
  const auto end = [&](std::string_view) { return ++steps < 20 ? Status() : Status(failed("interrupted")); };
  const Result<Calibration> made = calibrate(*machine_of(other_board()), {2, 1, 1}, end);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "interrupted");
  EXPECT_LE(steps, 21);
}

TEST(Calibration, ItsSettingsHaveRanges) {
  EXPECT_EQ(calibrate(*machine_of(other_board()), {1, 1, 1}, nothing).error().message, "gpus: 1, expected 2 or more");
  EXPECT_EQ(calibrate(*machine_of(other_board()), {2, 0, 1}, nothing).error().message, "trials: 0, expected 1 or more");
}

}  // namespace
}  // namespace elbowroom
