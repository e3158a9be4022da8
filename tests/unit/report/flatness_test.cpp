#include "elbowroom/report/flatness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using Costs = std::vector<std::optional<double>>;

TEST(Flatness, OfARowIsWhatItsNeighboursCost) {
  // The best is 100 at 2. 101 costs 1 %, 104 costs 4 %, 110 costs 10 %, 103 costs 3 %.
  const GridAxis row[] = {{6, true}};
  const auto all = flatness_of(row, Costs{110, 104, 100, 101, 103, 100.5});
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].best, ElementsAre(2));
  EXPECT_THAT(*all[0].second, ElementsAre(5));  // 100.5: far away, and next best all the same
  EXPECT_NEAR(all[0].second_loss, 0.005, 1e-12);
  ASSERT_THAT(all[0].slack, SizeIs(1));
  EXPECT_THAT(all[0].slack[0].second, ElementsAre(Slack{0.01, 2, 3}, Slack{0.03, 2, 5}, Slack{0.05, 1, 5}));
}

TEST(Flatness, EndsWhereNothingIsKnown) {
  const GridAxis row[] = {{4, true}};
  const auto all = flatness_of(row, Costs{100, std::nullopt, 100, 100});
  EXPECT_THAT(all[0].best, ElementsAre(0));
  EXPECT_THAT(all[0].slack[0].second[2], (Slack{0.05, 0, 0}));
}

TEST(Flatness, HasABestForEachGivenValue) {
  // Two sizes, given, by three caps, chosen: the first size is best at cap 2, the second at cap 0.
  const GridAxis axes[] = {{2, false}, {3, true}};
  const auto all = flatness_of(axes, Costs{30, 20, 10, 100, 200, std::nullopt});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_THAT(all[0].best, ElementsAre(0, 2));
  EXPECT_THAT(all[1].best, ElementsAre(1, 0));
  EXPECT_DOUBLE_EQ(all[1].second_loss, 1.0);  // 200 against 100
  EXPECT_EQ(all[1].slack[0].first, 1U);       // along the caps alone
}

TEST(Flatness, IsNoneWhereNothingIsChosenOrKnown) {
  const GridAxis given[] = {{2, false}};
  EXPECT_THAT(flatness_of(given, Costs{1, 2}), SizeIs(0));
  const GridAxis chosen[] = {{2, true}};
  EXPECT_THAT(flatness_of(chosen, Costs{std::nullopt, std::nullopt}), SizeIs(0));
  EXPECT_FALSE(flatness_of(chosen, Costs{std::nullopt, 3})[0].second);
}

RC_GTEST_PROP(FlatnessProperty, SlackHoldsTheBestAndNothingThatCostsMore, ()) {
  const GridAxis axes[] = {{*rc::gen::inRange<std::size_t>(1, 6), true}, {*rc::gen::inRange<std::size_t>(1, 6), true}};
  Costs costs;
  for (std::size_t at = 0; at < axes[0].values * axes[1].values; ++at) {
    costs.push_back(*rc::gen::inRange(0, 5) == 0 ? std::nullopt : std::optional<double>(*rc::gen::inRange(100, 110)));
    RC_ASSERT(cell_index(axes, cell_positions(axes, at)) == at);
  }
  for (const Flatness& flatness : flatness_of(axes, costs)) {
    const double best = *costs[cell_index(axes, flatness.best)];
    for (const auto& cost : costs) { RC_ASSERT(!cost || *cost >= best); }
    for (const auto& [axis, slacks] : flatness.slack) {
      for (const Slack& slack : slacks) {
        RC_ASSERT(slack.from <= flatness.best[axis] && flatness.best[axis] <= slack.to && slack.to < axes[axis].values);
        for (std::size_t position = slack.from; position <= slack.to; ++position) {
          std::vector<std::size_t> at = flatness.best;
          at[axis] = position;
          RC_ASSERT(*costs[cell_index(axes, at)] <= best * (1 + slack.loss));
        }
      }
    }
  }
}

}  // namespace
}  // namespace elbowroom
