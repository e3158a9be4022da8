#include "backend_sim/kernel_profiles.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace elbowroom::sim {
namespace {

TEST(BlockWork, BlocksStrideOverTiles) {
  // 2 x 2 blocks over 5 x 3 tiles: columns 0, 2, 4 and 1, 3; rows 0, 2 and 1.
  const BlockWork work{2, 2, 5, 3};
  EXPECT_EQ(work.tiles(0), 6);  // 3 columns x 2 rows
  EXPECT_EQ(work.tiles(1), 4);
  EXPECT_EQ(work.tiles(2), 3);
  EXPECT_EQ(work.tiles(3), 2);
}

TEST(BlockWork, BlocksBeyondTheTilesHaveNone) {
  const BlockWork work{4, 2, 3, 1};
  EXPECT_EQ(work.tiles(3), 0);
  EXPECT_EQ(work.tiles(4), 0);
}

RC_GTEST_PROP(BlockWork, TilesAreConservedAndRunsAreAlike, ()) {
  const auto size = [](int most) { return *rc::gen::inRange<std::int64_t>(1, most); };
  const BlockWork work{size(12), size(12), size(40), size(40)};
  double tiles = 0;
  for (std::int64_t block = 0; block < work.blocks(); ++block) { tiles += work.tiles(block); }
  RC_ASSERT(tiles == static_cast<double>(work.tiles_x * work.tiles_y));
  std::int64_t at = 0;
  while (at < work.blocks()) {
    const std::int64_t run = work.run(at);
    RC_ASSERT(run >= 1 && at + run <= work.blocks());
    for (std::int64_t block = at; block < at + run; ++block) { RC_ASSERT(work.tiles(block) == work.tiles(at)); }
    at += run;
  }
}

}  // namespace
}  // namespace elbowroom::sim
