#include "recorder/repetition.hpp"

#include <gtest/gtest.h>

#include <string>

namespace elbowroom::recorder {
namespace {

/// One kernel a letter on stream 7, 100 ns after the other.
std::vector<Kernel> kernels_of(const std::string& names) {
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Kernel kernel;
    kernel.begin = 1000 + 100 * i;
    kernel.end = kernel.begin + 50;
    kernel.stream = 7;
    kernel.name = static_cast<NameId>(names[i]);
    kernels.push_back(kernel);
  }
  return kernels;
}

TEST(PeriodicEnd, IsTheLongestOne) {
  EXPECT_EQ(periodic_end({}).period, 0U);
  EXPECT_EQ(periodic_end({1, 2, 3}).period, 0U);
  // 9 | 1 2 3 1 2 3 1 2: all but the first has the period 3.
  const PeriodicEnd end = periodic_end({9, 1, 2, 3, 1, 2, 3, 1, 2});
  EXPECT_EQ(end.period, 3U);
  EXPECT_EQ(end.length, 8U);
}

TEST(Repetition, CountsWholePeriodsAndTheirLength) {
  // abcd five times behind a warm-up of three kernels: 4 kernels of 100 ns a period.
  const Repetition repetition = repetition_of(kernels_of("xyz" + std::string("abcdabcdabcdabcdabcd")));
  EXPECT_EQ(repetition.period, 4U);
  EXPECT_EQ(repetition.count, 5U);
  EXPECT_EQ(repetition.length, 400U);
}

TEST(Repetition, IsNoRowOfEqualKernelsInAStep) {
  // Six of 20 kernels are alike: a row within a step.
  EXPECT_EQ(repetition_of(kernels_of("abcdefghijklmnoooooo")).period, 0U);
  EXPECT_EQ(repetition_of({}).period, 0U);
}

TEST(Repetition, LooksAtTheStreamWithMostKernels) {
  std::vector<Kernel> kernels = kernels_of("abababab");
  for (Kernel other : kernels_of("xyz")) {
    other.stream = 20;
    kernels.push_back(other);
  }
  std::swap(kernels[1], kernels[6]);  // records come in any order
  EXPECT_EQ(repetition_of(kernels).period, 2U);
  EXPECT_EQ(repetition_of(kernels).count, 4U);
}

TEST(Repetition, TellsLaunchesOfAnotherSizeApart) {
  std::vector<Kernel> kernels = kernels_of("aaaaaaaa");
  for (std::size_t i = 0; i < kernels.size(); ++i) { kernels[i].grid[0] = i % 2 == 0 ? 1 : 2; }
  EXPECT_EQ(repetition_of(kernels).period, 2U);
}

}  // namespace
}  // namespace elbowroom::recorder
