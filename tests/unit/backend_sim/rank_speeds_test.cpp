#include "backend_sim/rank_speeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <string>
#include <variant>

#include "backend_sim/sim_workload.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/lower.hpp"
#include "unit/model/steps.hpp"

namespace elbowroom::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Variability jitter_of(double percent) { return {percent, {}, {}}; }

TEST(RankSpeeds, EachRankHasItsOwnDraw) {
  const auto some = rank_speeds(jitter_of(2), 8, 1);
  const auto more = rank_speeds(jitter_of(2), 16, 1);
  EXPECT_TRUE(std::ranges::equal(some, std::vector(more.begin(), more.begin() + 8)));
  EXPECT_NE(some, rank_speeds(jitter_of(2), 8, 2));
  EXPECT_NE(some[0], some[1]);
  EXPECT_EQ(rank_speeds({}, 2, 1), std::vector<RankSpeed>(2));
}

// The greatest of three normal draws is 3 / (2 sqrt(pi)) = 0.846 deviations above the mean, and deviates by 0.748 itself: of 4,000
// means of 2 % draws the error is 0.024 %.
TEST(RankSpeeds, TheSlowestOfThreeIsTheirGreatestOrderStatistic) {
  constexpr int seeds = 4'000;
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto speeds = rank_speeds(jitter_of(2), 3, static_cast<std::uint64_t>(seed));
    sum += std::log(std::ranges::max(speeds, {}, &RankSpeed::compute_time).compute_time);
  }
  EXPECT_NEAR(sum / seeds, 0.02 * 1.5 / std::sqrt(std::numbers::pi), 0.001);
}

/// All compute; those along tp add twice, those along dp once.
Step of_mesh(std::vector<MeshAxis> mesh, int ranks) {
  Step step;
  step.name = "s";
  step.mesh = std::move(mesh);
  step.ranks = ranks;
  step.operations = {compute_operation("layer"), comm_operation("some", {{0, false}}), comm_operation("more", {{1, false}}),
                     comm_operation("grad", {{2, false}})};
  step.operations[1].along = step.operations[2].along = {1};
  step.operations[3].along = {0};
  return step;
}

TEST(RankSpeeds, RanksThatMeetMostOnOneHostKeepPace) {
  EXPECT_THAT(pacemakers(of_mesh({{"dp", 2}, {"tp", 2}}, 4), 8), ElementsAre(0, 0, 2, 2));
  // Between hosts of one GPU nobody does.
  EXPECT_THAT(pacemakers(of_mesh({{"dp", 2}, {"tp", 2}}, 4), 1), ElementsAre(0, 1, 2, 3));
}

// Five pairs along tp; each computes as long as its slower rank: 1.75, 1, 1.25, 1, 1.5. The first is slowest, the second fastest;
// the others are one class, of (1.25 + 1 + 1.5) / 3. The slowest link of these is a half.
TEST(RankSpeeds, AClassComputesAsItsPacemakersInTheMeanAndSendsAsTheSlowest) {
  const auto speeds = rank_speeds({0, {{0, 1.75}, {5, 1.25}, {8, 1.5}}, {{6, 0.5}}}, 10, 1);
  const UnequalClasses made = unequal_classes(of_mesh({{"dp", 5}, {"tp", 2}}, 10), speeds, 2);
  EXPECT_THAT(made.classes.of_rank, ElementsAre(0, 0, 1, 1, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(made.speeds, ElementsAre(RankSpeed{1.75, 1}, RankSpeed{1, 1}, RankSpeed{1.25, 0.5}));
}

/// Four ranks compute for 100 us, then add `bytes`.
Step computed_then_added(Bytes bytes) {
  Step step;
  step.name = "s";
  step.mesh = {{"dp", 4}};
  step.ranks = 4;
  step.operations = {compute_operation("layer"), comm_operation("add", {{0, false}})};
  RecordedKernel recorded;
  recorded.name = "layer";
  recorded.times = {Microseconds(100)};
  recorded.blocks = Blocks(132);
  recorded.threads = Threads(256);
  recorded.registers_per_thread = Registers(56);
  step.operations[0].what = recorded;
  std::get<Collective>(step.operations[1].what).bytes = bytes;
  step.operations[1].along = {0};
  return step;
}

double time_with(const Variability& variability, const Step& step) {
  BackendOptions options;
  options.variability = variability;
  const auto backend = *open_backend("sim", options);
  return (*backend->prepare(step))->run(*lower(step, Order::sequential, {}))->count();
}

TEST(RankSpeeds, AllWaitForAThrottledGpu) {
  const Step step = computed_then_added(mebibytes(1));
  const double equal = time_with({}, step);
  // Blocks take up to 2 % more than their time.
  EXPECT_NEAR(time_with({0, {{2, 1.5}}, {}}, step), equal + 50, 1);
  EXPECT_NEAR(time_with({0, {{2, 1.5}, {3, 1.2}}, {}}, step), equal + 50, 1);
}

// 4 GiB among four take 1.5 x 4 GiB over each link: 16 ms at 393 GB/s, which blocks do not limit by much.
TEST(RankSpeeds, ARingIsAsFastAsItsSlowestLink) {
  const Step step = computed_then_added(mebibytes(4096));
  const double equal = time_with({}, step);
  const double slow = time_with({0, {}, {{1, 0.25}}}, step);
  EXPECT_GT(slow / equal, 3.5);
  EXPECT_LT(slow / equal, 4.01);
}

TEST(RankSpeeds, FiguresNameThem) {
  BackendOptions options;
  options.variability = {2, {{3, 1.2}}, {{0, 0.5}, {1, 0.25}}};
  const auto named = (*open_backend("sim", options))->versions();
  EXPECT_THAT(named, ::testing::IsSupersetOf({std::pair<std::string, std::string>("simulator_jitter", "2 %"),
                                              {"simulator_stragglers", "3=1.2"},
                                              {"simulator_slow_links", "0=0.5,1=0.25"}}));
  options.predicts = true;
  using Version = std::pair<std::string, std::string>;
  EXPECT_THAT((*open_backend("sim", options))->versions(),
              ::testing::ElementsAre(Version("simulator", "3"), Version("simulator_collectives", "nccl-2.28")));
  options.device = "mi300x";
  EXPECT_THAT((*open_backend("sim", options))->versions(), ::testing::Contains(Version("simulator_collectives", "rccl-5.2")));
}

TEST(RankSpeeds, WhatIsOutOfRangeIsRefusedInOneLine) {
  const auto refusal = [](const Variability& variability) { return check(variability, 4).error().message; };
  EXPECT_TRUE(check({20, {{3, 1}, {0, 100}}, {{1, 0.01}}}, 4));
  EXPECT_EQ(refusal(jitter_of(21)), "--jitter: 21, expected 0 to 20 percent");
  EXPECT_THAT(refusal(jitter_of(NAN)), HasSubstr("--jitter: nan"));
  EXPECT_EQ(refusal({0, {{4, 1.2}}, {}}), "--straggler: rank 4, expected 0 to 3");
  EXPECT_EQ(refusal({0, {{1, 0.5}}, {}}), "--straggler: 1=0.5, expected 1 to 100");
  EXPECT_EQ(refusal({0, {}, {{1, 0}}}), "--slow-link: 1=0, expected 0.01 to 1");
}

}  // namespace
}  // namespace elbowroom::sim
