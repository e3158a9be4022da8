#include "elbowroom/trace/rank_interval.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace elbowroom {
namespace {

RankInterval of(const std::vector<double>& numbers, double confidence = 0.95) {
  std::vector<Microseconds> times;
  for (const double number : numbers) { times.emplace_back(number); }
  return rank_interval(times, confidence);
}

RankInterval expected(double median, double low, double high) {
  return {Microseconds(median), Microseconds(low), Microseconds(high)};
}

TEST(RankInterval, OfFewTimesIsTheirRange) {
  EXPECT_EQ(of({7}), expected(7, 7, 7));
  EXPECT_EQ(of({5, 1}), expected(3, 1, 5));
  EXPECT_EQ(of({3, 9, 1, 2, 4}), expected(3, 1, 9));  // the range of five holds the median with 1 - 2/32 = 93.75 %
}

TEST(RankInterval, IsWidenedToAShareOfTheMedian) { EXPECT_EQ(widened(expected(100, 95, 130), 0.25), expected(100, 75, 130)); }

TEST(RankInterval, LeavesOutWhatTheConfidenceAllows) {
  // Nine: leaving one out on either side fails with 2 (1 + 9) / 512 = 3.9 %, two with 2 (1 + 9 + 36) / 512 = 18 %.
  EXPECT_EQ(of({9, 8, 7, 6, 5, 4, 3, 2, 1}), expected(5, 2, 8));
  EXPECT_EQ(of({9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.80), expected(5, 3, 7));
  // Eight: one out fails with 2 (1 + 8) / 256 = 7.0 %.
  EXPECT_EQ(of({8, 7, 6, 5, 4, 3, 2, 1}), expected(4.5, 1, 8));
  EXPECT_EQ(of({8, 7, 6, 5, 4, 3, 2, 1}, 0.92), expected(4.5, 2, 7));
}

}  // namespace
}  // namespace elbowroom
