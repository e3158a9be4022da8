#include "backend_sim/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/order_check.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "unit/model/steps.hpp"

namespace elbowroom::sim {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Backend> simulator() { return *open_backend("sim", {}); }

/// Every `tp` ranks add what they compute, in `replicas` of which nobody knows another.
Step replicas_of(int tp, int replicas) {
  Step step;
  step.name = "s";
  step.mesh = {{"dp", replicas}, {"tp", tp}};
  step.ranks = tp * replicas;
  step.operations = {compute_operation("layer"), comm_operation("add", {{0, false}})};
  step.operations[1].along = {1};
  return step;
}

std::string refusal(const Step& step) {
  const Status status = within_hosts(step, 8, std::nullopt);
  return status ? "" : status.error().message;
}

TEST(Hosts, HoldWhatCommunicatesInTheOrderOfRanks) {
  EXPECT_EQ(refusal(replicas_of(8, 512)), "");
  EXPECT_EQ(refusal(replicas_of(4, 1'024)), "");
  // Of threes the third is on two hosts: ranks 6, 7 and 8.
  EXPECT_EQ(refusal(replicas_of(3, 2)), "");
  EXPECT_EQ(refusal(replicas_of(3, 3)),
            "add: joins ranks 6 and 8, expected ranks of one host of 8 GPUs (nothing joins hosts of such devices; --machine names "
            "some that are joined)");
  Step step = replicas_of(8, 2);
  step.operations.push_back(comm_operation("grad"));
  step.operations[2].along = {0};
  EXPECT_EQ(refusal(step),
            "grad: joins ranks 0 and 8, expected ranks of one host of 8 GPUs (nothing joins hosts of such devices; --machine names "
            "some that are joined)");
}

TEST(Hosts, AStepOfManyTakesWhatOneOfThemTakes) {
  const std::unique_ptr<Backend> backend = simulator();
  const auto time = [&](int replicas) {
    const Step step = replicas_of(8, replicas);
    EXPECT_TRUE(validate(step));
    return (*backend->prepare(step))->run(*lower(step, Order::concurrent, {}))->count();
  };
  const double one = time(1);
  EXPECT_EQ(time(2), one);
  EXPECT_EQ(time(512), one);
}

TEST(Hosts, ARecordingOfManyShowsOneOfEachKind) {
  // Ranks 0 to 7 of each host, of which the last one computes more: rank 0 stands for seven, rank 7 for itself.
  Step step = replicas_of(8, 3);
  step.operations.push_back(compute_operation("head"));
  step.operations[2].at = {{1, 7}};
  const std::unique_ptr<Workload> workload = *simulator()->prepare(step);
  const auto shown = [](const Timeline& timeline) {
    std::set<int> devices;
    for (const Span& span : timeline.spans) { devices.insert(span.device); }
    return devices;
  };
  const Program program = *lower(step, Order::concurrent, {});
  const Timeline recorded = *workload->record(program);
  EXPECT_THAT(shown(recorded), ElementsAre(0, 7));
  EXPECT_TRUE(check_order(step, program, recorded));
  step = replicas_of(4, 2);
  EXPECT_EQ(shown(*(*simulator()->prepare(step))->record(*lower(step, Order::concurrent, {}))).size(), 8U);
}

TEST(Hosts, PlacesAreOfTheFullestHost) {
  // Replicas of 8 ranks: each rank adds gradients with one of every other host, and 8 such groups leave a host.
  Step step = replicas_of(8, 4);
  step.operations.push_back(comm_operation("grad"));
  step.operations[2].along = {0};
  const auto places = places_of(step, 8);
  EXPECT_FALSE(places[0]);
  EXPECT_FALSE(places[1]);
  ASSERT_TRUE(places[2]);
  EXPECT_EQ(places[2]->ranks, 4);
  EXPECT_EQ(places[2]->per_host, 1);
  EXPECT_EQ(places[2]->rings_of_host, 8);
  // Replicas of 2: four of a group on each host, of two groups.
  step = replicas_of(2, 8);
  step.operations.push_back(comm_operation("grad"));
  step.operations[2].along = {0};
  const auto shared = places_of(step, 8);
  EXPECT_EQ(shared[2]->per_host, 4);
  EXPECT_EQ(shared[2]->rings_of_host, 2);
}

// Two replicas of 8 add 64 MiB: each of 8 rings has an eighth of 8 x 50 GB/s x 0.78, so that 67,108,864 bytes take 1.72 ms, and a
// start before.
TEST(Hosts, GradientsGoOverTheRails) {
  Step step = replicas_of(8, 2);
  Operation gradient = comm_operation("grad");
  std::get<Collective>(gradient.what).bytes = mebibytes(64);
  gradient.along = {0};
  step.operations = {gradient};
  const std::unique_ptr<Workload> workload = *simulator()->prepare(step);
  const double time = workload->run(*lower(step, Order::concurrent, {}))->count();
  EXPECT_GT(time, 67'108'864 / 39e3);
  EXPECT_LT(time, 67'108'864 / 39e3 * 1.1 + 100);
}

TEST(Hosts, AScenarioOfMoreThanOneIsRefusedInOneLine) {
  Scenario scenario;
  scenario.name = "s";
  scenario.gpus = 16;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)};
  scenario.collective.bytes = mebibytes(64);
  BackendOptions options;
  options.device = "a40";
  const auto refused = (*open_backend("sim", options))->prepare(scenario);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "all_reduce: joins ranks 0 and 15, expected ranks of one host of 8 GPUs (nothing joins hosts of such devices; "
            "--machine names some that are joined)");
}

}  // namespace
}  // namespace elbowroom::sim
