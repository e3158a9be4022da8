#include "elbowroom/model/rank_classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steps.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using Lists = std::vector<std::vector<int>>;

TEST(RankClasses, RanksThatDoTheSameAreOneWhateverTheirNumber) {
  Step step;
  step.mesh = {{"dp", 1'024}, {"pp", 4}};
  step.ranks = 4'096;
  step.operations = {compute_operation("all"), comm_operation("grad")};
  step.operations[1].along = {0};
  EXPECT_EQ(rank_classes(step).count, 1);
  step.operations.push_back(compute_operation("head"));
  step.operations[2].at = {{1, 3}};
  const RankClasses classes = rank_classes(step);
  EXPECT_EQ(classes.count, 2);
  EXPECT_THAT(std::vector(classes.of_rank.begin(), classes.of_rank.begin() + 8), ElementsAre(0, 0, 0, 1, 0, 0, 0, 1));
  EXPECT_EQ(classes.of_operation[1], (Lists{{0}, {1}}));  // no communicator joins the two
}

TEST(RankClasses, WhoCommunicatesWithOthersOfAnotherClassIsOfAnotherClass) {
  // Ranks 0 1 / 2 3 along dp and pp. Rank 0 alone computes: by operations 1, 2 and 3 are alike. But a communicator along dp joins 2
  // with 0, so that 2 waits for 0 and 1 and 3 do not.
  Step step;
  step.mesh = {{"dp", 2}, {"pp", 2}};
  step.ranks = 4;
  step.operations = {compute_operation("first"), comm_operation("grad")};
  step.operations[0].at = {{0, 0}, {1, 0}};
  step.operations[1].along = {0};
  const RankClasses classes = rank_classes(step);
  EXPECT_THAT(classes.of_rank, ElementsAre(0, 1, 2, 1));
  EXPECT_EQ(classes.of_operation[1], (Lists{{0, 2}, {1}}));
}

TEST(RankClasses, AChainTellsItsRanksApartStepByStep) {
  // Each of 8 ranks shares a communicator with its neighbours; rank 0 alone computes: how far it is away is what differs.
  Step step;
  step.ranks = 8;
  step.operations = {compute_operation("first")};
  step.groups = {{"zero", {0}}};
  step.operations[0].at_group = 0;
  for (int rank = 0; rank + 1 < 8; ++rank) {
    step.groups.push_back({"g" + std::to_string(rank), {rank, rank + 1}});
    step.operations.push_back(comm_operation("c" + std::to_string(rank)));
    step.operations.back().group = rank + 1;
  }
  EXPECT_EQ(rank_classes(step).count, 8);
}

// Ranks 0 to 3 add along dp, and 4 to 7. Of the four that meet rank 2 the three others are one class.
TEST(RankClasses, ARankThatIsToldApartTellsItsPartnersApart) {
  Step step;
  step.mesh = {{"pp", 2}, {"dp", 4}};
  step.ranks = 8;
  step.operations = {compute_operation("all"), comm_operation("grad")};
  step.operations[1].along = {1};
  EXPECT_EQ(rank_classes(step).count, 1);
  const RankClasses classes = rank_classes(step, {{2}});
  EXPECT_THAT(classes.of_rank, ElementsAre(0, 0, 1, 0, 2, 2, 2, 2));
  EXPECT_EQ(classes.of_operation[1], (Lists{{0, 1}, {2}}));
}

}  // namespace
}  // namespace elbowroom
