#include "backend_sim/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/order_check.hpp"
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
  const Status status = within_hosts(step, 8);
  return status ? "" : status.error().message;
}

TEST(Hosts, HoldWhatCommunicatesInTheOrderOfRanks) {
  EXPECT_EQ(refusal(replicas_of(8, 512)), "");
  EXPECT_EQ(refusal(replicas_of(4, 1'024)), "");
  // Of threes the third is on two hosts: ranks 6, 7 and 8.
  EXPECT_EQ(refusal(replicas_of(3, 2)), "");
  EXPECT_EQ(refusal(replicas_of(3, 3)),
            "add: joins ranks 6 and 8, expected ranks of one host of 8 GPUs (no network between hosts is simulated)");
  Step step = replicas_of(8, 2);
  step.operations.push_back(comm_operation("grad"));
  step.operations[2].along = {0};
  EXPECT_EQ(refusal(step),
            "grad: joins ranks 0 and 8, expected ranks of one host of 8 GPUs (no network between hosts is simulated)");
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

TEST(Hosts, AScenarioOfMoreThanOneIsRefusedInOneLine) {
  Scenario scenario;
  scenario.name = "s";
  scenario.gpus = 16;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)};
  scenario.collective.bytes = mebibytes(64);
  const auto refused = simulator()->prepare(scenario);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "all_reduce: joins ranks 0 and 15, expected ranks of one host of 8 GPUs (no network between hosts is simulated)");
}

}  // namespace
}  // namespace elbowroom::sim
