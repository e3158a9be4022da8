#include "page/grid.hpp"

#include <gtest/gtest.h>

namespace elbowroom::page {
namespace {

PlannedTime time(int residency, int comm_blocks, double median) {
  OverlapPlan plan;
  if (residency > 0) { plan.blocks_per_sm = BlocksPerSm(residency); }
  plan.pad = Bytes(residency * 128);
  if (comm_blocks > 0) { plan.comm_blocks = Blocks(comm_blocks); }
  return {plan, median};
}

TEST(Grid, PutsTheControlOfMoreValuesAcross) {
  // Three residencies (off, 1, 2) across, two block budgets down; the pad goes with the residency.
  const auto grid = grid_of({time(0, 8, 10), time(1, 8, 11), time(2, 8, 12), time(0, 16, 20), time(1, 16, 21), time(2, 16, 22)});
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->x_name, "blocks_per_sm");
  EXPECT_EQ(grid->y_name, "comm_blocks");
  EXPECT_EQ(grid->x, (std::vector<Value>{"off", 1, 2}));
  EXPECT_EQ(grid->y, (std::vector<Value>{8, 16}));
  EXPECT_EQ(grid->cells, (std::vector<std::vector<Value>>{{10.0, 11.0, 12.0}, {20.0, 21.0, 22.0}}));
}

TEST(Grid, MayLackAQuarterOfItsCells) {
  // Five of six cells are more than three quarters, four of six are less.
  const auto grid = grid_of({time(1, 8, 1), time(2, 8, 2), time(3, 8, 3), time(1, 16, 4), time(2, 16, 5)});
  ASSERT_TRUE(grid.has_value());
  EXPECT_TRUE(grid->cells[1][2].is_null());
  EXPECT_FALSE(grid_of({time(1, 8, 1), time(2, 8, 2), time(3, 8, 3), time(1, 16, 4)}).has_value());
}

TEST(Grid, NeedsTwoControlsAndOneTimeForEachPair) {
  EXPECT_FALSE(grid_of({}).has_value());
  EXPECT_FALSE(grid_of({time(1, 8, 1), time(2, 8, 2)}).has_value());
  std::vector<PlannedTime> times = {time(1, 8, 1), time(2, 8, 2), time(3, 8, 3), time(1, 16, 4), time(2, 16, 5), time(3, 16, 6)};
  EXPECT_TRUE(grid_of(times).has_value());
  times.push_back(time(2, 16, 7));
  EXPECT_FALSE(grid_of(times).has_value());
  times.pop_back();
  std::vector<PlannedTime> three = times;
  three[3].plan.priority = true;
  EXPECT_FALSE(grid_of(three).has_value());
  EXPECT_FALSE(grid_of({time(1, 8, 1), time(2, 8, 2), time(1, 16, 3), time(2, 16, 4)}).has_value());  // two by two
}

}  // namespace
}  // namespace elbowroom::page
