// Ranks of a class share one simulated device; here each rank has its own (exact mode).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "backend_sim/launch_models.hpp"
#include "backend_sim/performance.hpp"
#include "backend_sim/rank_speeds.hpp"
#include "backend_sim/sim_program.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/rank_classes.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom::sim {
namespace {

RankClasses each_rank_apart(const Step& step) {
  RankClasses classes;
  classes.count = step.ranks;
  classes.of_rank.resize(static_cast<std::size_t>(step.ranks));
  std::iota(classes.of_rank.begin(), classes.of_rank.end(), 0);
  for (const Operation& operation : step.operations) {
    std::vector<std::vector<int>> together = communicators_of(step, operation);
    if (computes(operation)) {
      together.clear();
      for (const int rank : ranks_of(step, operation)) { together.push_back({rank}); }
    }
    for (std::vector<int>& ranks : together) { std::ranges::sort(ranks); }
    classes.of_operation.push_back(std::move(together));
  }
  return classes;
}

/// In microseconds.
double time_of(const Step& step, const Program& program, const RankClasses& classes, const std::vector<RankSpeed>& speeds = {}) {
  const DeviceLimits device = *find_device("h100");
  const LaunchModels models = *LaunchModels::make(step, device, machine_with("h100"));
  const SimProgram translation = *translated(
      step, program, classes, [&](const Launch& launch, const Lane& lane) { return models.model_of(launch, lane); }, speeds);
  EXPECT_EQ(translation.devices.size(), static_cast<std::size_t>(classes.count));
  return simulate(translation, machine_of(device), device)->end;
}

TransformerStep small(Parallelism parallel) {
  TransformerStep request;
  request.decoder.layers = 4;
  request.decoder.hidden = 2'048;
  request.decoder.ffn = 4'096;
  request.decoder.heads = request.decoder.kv_heads = 16;
  request.tokens = 4'096;
  request.parallel = std::move(parallel);
  return request;
}

void expect_classes_as_exact(const TransformerStep& request, int ranks, int classes) {
  const Result<Step> made = transformer_step(request);
  ASSERT_TRUE(made) << made.error().message;
  const Step& step = *made;
  ASSERT_EQ(step.ranks, ranks);
  const RankClasses found = rank_classes(step);
  EXPECT_EQ(found.count, classes);
  OverlapPlan priority;
  priority.priority = true;
  for (const auto& [order, plan] : {std::pair(Order::sequential, OverlapPlan()), std::pair(Order::concurrent, OverlapPlan()),
                                    std::pair(Order::concurrent, priority)}) {
    const Program program = *lower(step, order, plan);
    const double exact = time_of(step, program, each_rank_apart(step));
    EXPECT_NEAR(time_of(step, program, found), exact, 0.01 * exact) << to_string(order);
  }
}

void expect_classes_as_exact(Parallelism parallel, int ranks, int classes) {
  expect_classes_as_exact(small(std::move(parallel)), ranks, classes);
}

TEST(ExactRanks, RanksWithExpertsAreOneClassUnlessTokensAreUneven) {
  Parallelism parallel;
  parallel.ep = 4;
  parallel.dp = 16;
  TransformerStep request = small(parallel);
  request.decoder.layers = 1;
  request.decoder.experts = 4;
  expect_classes_as_exact(request, 64, 1);
  request.imbalance = 1.5;
  expect_classes_as_exact(request, 64, 4);
}

TEST(ExactRanks, StagesOfReplicasAreOneClassEach) {
  Parallelism parallel;
  parallel.pp = 4;
  parallel.tp = 8;
  parallel.dp = 2;
  parallel.micro = 4;
  expect_classes_as_exact(parallel, 64, 4);
  parallel.dp = 8;
  expect_classes_as_exact(parallel, 256, 4);
}

TEST(ExactRanks, ReplicasThatShareParametersAreOneClass) {
  Parallelism parallel;
  parallel.fsdp = 128;
  expect_classes_as_exact(parallel, 128, 1);
}

TEST(ExactRanks, InterleavedStagesAreOneClassEach) {
  Parallelism parallel;
  parallel.pp = 2;
  parallel.dp = 32;
  parallel.micro = 4;
  parallel.schedule = PipelineSchedule::interleaved;
  expect_classes_as_exact(parallel, 64, 2);
}

/// In the mean over machines, each of which a seed draws.
void expect_unequal_ranks_as_exact(const TransformerStep& request, const Variability& variability, int seeds) {
  const Result<Step> made = transformer_step(request);
  ASSERT_TRUE(made) << made.error().message;
  const RankClasses apart = each_rank_apart(*made);
  const Program program = *lower(*made, Order::concurrent, {});
  double exact = 0;
  double by_class = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::vector<RankSpeed> speeds = rank_speeds(variability, made->ranks, static_cast<std::uint64_t>(seed));
    exact += time_of(*made, program, apart, speeds);
    const UnequalClasses unequal = unequal_classes(*made, speeds, 8);
    by_class += time_of(*made, program, unequal.classes, unequal.speeds);
  }
  EXPECT_NEAR(by_class, exact, 0.01 * exact);
  EXPECT_GT(exact, seeds * time_of(*made, program, rank_classes(*made)));
}

TransformerStep computing(Parallelism parallel) {
  TransformerStep request = small(std::move(parallel));
  request.tokens = 16'384;
  request.sequence = 2'048;
  return request;
}

TEST(ExactRanks, UnequalShardsWaitForTheSlowest) {
  Parallelism parallel;
  parallel.fsdp = 32;
  expect_unequal_ranks_as_exact(computing(parallel), {2, {}, {}}, 2);
  expect_unequal_ranks_as_exact(computing(parallel), {0, {{17, 1.3}}, {}}, 1);
  expect_unequal_ranks_as_exact(computing(parallel), {0, {}, {{17, 0.1}}}, 1);
}

TEST(ExactRanks, UnequalStagesWaitForTheSlowestReplica) {
  Parallelism parallel;
  parallel.pp = 4;
  parallel.dp = 8;
  parallel.micro = 4;
  expect_unequal_ranks_as_exact(computing(parallel), {2, {}, {}}, 2);
  expect_unequal_ranks_as_exact(computing(parallel), {0, {{17, 1.3}}, {}}, 1);
  parallel.tp = 4;
  parallel.dp = 2;
  expect_unequal_ranks_as_exact(computing(parallel), {2, {}, {}}, 1);
}

// Eight ranks along tp keep the pace of the slowest among them.
TEST(ExactRanks, UnequalRanksOf256WaitForTheSlowest) {
  Parallelism parallel;
  parallel.pp = 4;
  parallel.tp = 8;
  parallel.dp = 8;
  parallel.micro = 1;
  TransformerStep request = small(parallel);
  request.sequence = 2'048;
  expect_unequal_ranks_as_exact(request, {2, {}, {}}, 1);
}

}  // namespace
}  // namespace elbowroom::sim
