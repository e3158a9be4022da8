#include "interposer/process/sampled_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace elbowroom::interposer::process {
namespace {

// 10, 12 and 15 are told apart. Between 512 and 1,024 a size is 32 wide: 700 = 512 + 5 x 32 + 28, whose size begins at 672.
TEST(SampledTimes, MedianIsTheLeastTimeOfItsSize) {
  SampledTimes small;
  for (const std::uint64_t time : {15U, 10U, 12U}) { small.add(time); }
  EXPECT_EQ(small.median(), 12U);
  SampledTimes large;
  for (const std::uint64_t time : {700U, 690U, 40000000U}) { large.add(time); }
  EXPECT_EQ(large.median(), 672U);
  EXPECT_EQ(large.sum(), 40001390U);
  EXPECT_EQ(large.samples(), 3U);
}

TEST(SampledTimes, IsAtMostASixteenthBelowTheTrueMedian) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    SampledTimes times;
    std::vector<std::uint64_t> all(1 + random() % 99);
    for (std::uint64_t& time : all) {
      time = random() % (std::uint64_t{1} << (random() % 36));
      times.add(time);
    }
    std::ranges::sort(all);
    const auto exact = static_cast<double>(all[all.size() / 2]);
    EXPECT_LE(static_cast<double>(times.median()), exact);
    EXPECT_GE(static_cast<double>(times.median()), exact * (1 - 1.0 / 16) - 1);
  }
}

}  // namespace
}  // namespace elbowroom::interposer::process
