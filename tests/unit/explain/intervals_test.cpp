#include "explain/intervals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Intervals, AreMerged) {
  EXPECT_THAT(merged({{5, 7}, {1, 3}, {3, 4}, {2, 2}, {6, 9}}), ElementsAre(Interval{1, 4}, Interval{5, 9}));
  EXPECT_THAT(merged({{3, 3}, {5, 4}}), IsEmpty());
}

TEST(Intervals, LoseWhatOthersCover) {
  EXPECT_THAT(without({{0, 10}, {20, 30}}, {{2, 4}, {6, 22}, {29, 40}}),
              ElementsAre(Interval{0, 2}, Interval{4, 6}, Interval{22, 29}));
  EXPECT_THAT(without({{0, 10}}, {{0, 10}}), IsEmpty());
}

TEST(Intervals, ShareAndAreCut) {
  EXPECT_THAT(shared({{0, 10}, {20, 30}}, {{5, 25}}), ElementsAre(Interval{5, 10}, Interval{20, 25}));
  EXPECT_THAT(within({{0, 10}, {20, 30}, {40, 50}}, {8, 45}), ElementsAre(Interval{8, 10}, Interval{20, 30}, Interval{40, 45}));
  EXPECT_EQ(length_within({{0, 10}, {20, 30}}, {8, 21}), 3);
  EXPECT_EQ(overlap({0, 10}, {12, 15}), 0);
}

}  // namespace
}  // namespace elbowroom::explain
