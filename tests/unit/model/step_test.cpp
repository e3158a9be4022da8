#include "elbowroom/model/step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/model/steps.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;

TEST(Step, OfAPipelineIsAKernelAndACollectiveThatWaitsForIt) {
  Scenario scenario;
  scenario.name = "mine";
  scenario.gpus = 4;
  scenario.iterations = 3;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(1)};
  const Step step = step_of(scenario);
  EXPECT_EQ(step.name, "mine");
  EXPECT_EQ(step.ranks, 4);
  EXPECT_EQ(step.repeats, 3);
  ASSERT_EQ(step.operations.size(), 2U);
  EXPECT_EQ(step.operations[0].name, "elementwise");
  EXPECT_TRUE(computes(step.operations[0]));
  EXPECT_EQ(step.operations[1].name, "all_reduce");
  EXPECT_THAT(step.operations[1].after, ElementsAre(Dependency{0, false}));
  EXPECT_EQ(communicator_size(step, step.operations[1]), 4);
  scenario.pattern = Pattern::pair;
  EXPECT_TRUE(step_of(scenario).operations[1].after.empty());
}

TEST(Step, AxesPartRanksIntoCommunicators) {
  // Rank = 3 * dp + pp: along dp 0 and 3, 1 and 4, 2 and 5.
  Step step;
  step.ranks = 6;
  step.mesh = {{"dp", 2}, {"pp", 3}};
  Operation sum = comm_operation("sum");
  sum.along = {0};
  EXPECT_THAT(communicators_of(step, sum), ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4), ElementsAre(2, 5)));
  EXPECT_EQ(communicator_size(step, sum), 2);
  sum.at = {{1, 2}};
  EXPECT_THAT(communicators_of(step, sum), ElementsAre(ElementsAre(2, 5)));
  EXPECT_EQ(communicator_size(step, sum), 2);
  sum.along = {1};
  sum.at.clear();
  EXPECT_THAT(communicators_of(step, sum), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  sum.what = SendRecv{mebibytes(1), DataType::bf16, 2, 0};
  EXPECT_THAT(communicators_of(step, sum), ElementsAre(ElementsAre(2, 0), ElementsAre(5, 3)));
  EXPECT_THAT(ranks_of(step, sum), ElementsAre(0, 2, 3, 5));
  sum.along.clear();
  EXPECT_EQ(communicator_size(step, sum), 6);
}

TEST(Step, AComputationRunsWhereItIsPut) {
  Step step;
  step.ranks = 6;
  step.mesh = {{"dp", 2}, {"pp", 3}};
  Operation head = compute_operation("head");
  EXPECT_THAT(ranks_of(step, head), ElementsAre(0, 1, 2, 3, 4, 5));
  head.at = {{1, 1}};
  EXPECT_THAT(ranks_of(step, head), ElementsAre(1, 4));
  step.mesh.clear();
  step.groups = {{"odd", {5, 3, 1}}};
  head.at.clear();
  head.at_group = 0;
  EXPECT_THAT(ranks_of(step, head), ElementsAre(1, 3, 5));
}

TEST(Step, OperationsAreOrderedByWhatTheyWaitFor) {
  Step step;
  step.operations = {compute_operation("last", {{2, false}}), compute_operation("first"),
                     comm_operation("second", {{1, false}, {0, true}})};
  EXPECT_THAT(*in_order(step), ElementsAre(1, 2, 0));
  step.operations[1].after = {{0, false}};
  const Result<std::vector<int>> refused = in_order(step);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "operations[0].after: \"last\" waits for itself by way of others, expected an order without circles");
}

}  // namespace
}  // namespace elbowroom
