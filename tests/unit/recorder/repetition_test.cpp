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

TEST(Repetition, CountsWholePeriodsAndTheirLength) {
  // abcd five times behind a warm-up of three kernels: from each `a` to the next 4 kernels of 100 ns.
  const Repetition repetition = repetition_of(kernels_of("xyz" + std::string("abcdabcdabcdabcdabcd")));
  EXPECT_EQ(repetition.period, 4U);
  EXPECT_EQ(repetition.count, 4U);
  EXPECT_EQ(repetition.length, 400U);
}

// DistributedDataParallel on two H200, one letter for each name: a step of 581 kernels on the stream that computes, and what had
// come of the newest ones 0.85 s behind the recording's begin. Each thread's records come by buffers of their own, so that kernels
// launched by the forward pass are missing there.
constexpr char kStep[] =
    "abcdefegbcdbhhchhcibhhchhcibjabcdefegbcdbhhchhcibhhchhcibjabcdefegbcdbhhchhcibhhchhcibjabcdefegbcdbhhchhcibhhchhcibjabcd"
    "efegbcdgklmnonpqgrstuvtgguwtxuwctrsctywtzABywthhChchcDaywcthhChchcDaywctrsctuvtgguwtxuwctrsctywtzABywthhChchcDaywcthhChc"
    "hcDaywctrsctuvtgguwtxuwctrsctywtzABywthhChchcDaywcthhChchcDaywctrsctuvtgguwtxuwctrsctywtzABywthhChchcDaywcthhChchcDaywct"
    "rsctuvtgguwtxuwctrsctywtzABywthhChchcDaywcthhChchcDaywctrsctuvtgguwtxuwctrsctywtzABywthhChchcDaywcthhChchcDaywctstEEEEEE"
    "EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEFdbhhchhcibhhchhcibjabcdefegbcdbhhchhcibhhchhcibj";
constexpr char kNewest[] =
    "npqgrstuvtgguwtxuwctrsctywtzABywthhChchcDaywcthhChchcDaywctrsctuvtgguwtxuwctrsctywtzABywthhChchcDaywcthhChchcDaywctrsctu"
    "vtgguwtxuwctrsctywtzABywthhChchcDaywcthhChchcDaywctrsctuvtgguwtxuwctrsctywtzAByw";

TEST(Repetition, IsFoundWhereTheNewestKernelsAreMissing) {
  std::string names;
  for (int step = 0; step < 22; ++step) { names += kStep; }
  names.resize(12'807);
  const Repetition repetition = repetition_of(kernels_of(names + kNewest));
  EXPECT_EQ(repetition.period, 581U);
  EXPECT_GE(repetition.count, 20U);
  EXPECT_EQ(repetition.length, 58'100U);
}

// More names than are tried, each of which is rarer than any of the steps.
TEST(Repetition, IsFoundBehindManyKernelsOfTheStart) {
  std::string names;
  for (char name = 'A'; name <= 'Z'; ++name) { names += std::string(3, name); }
  for (char name = '!'; name <= '9'; ++name) { names += std::string(3, name); }
  for (int step = 0; step < 60; ++step) { names += "abcd"; }
  EXPECT_EQ(repetition_of(kernels_of(names)).period, 4U);  // 240 of 393 kernels
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
  EXPECT_EQ(repetition_of(kernels).count, 3U);
}

TEST(Repetition, TellsLaunchesOfAnotherSizeApart) {
  std::vector<Kernel> kernels = kernels_of("aaaaaaaa");
  for (std::size_t i = 0; i < kernels.size(); ++i) { kernels[i].grid[0] = i % 2 == 0 ? 1 : 2; }
  EXPECT_EQ(repetition_of(kernels).period, 2U);
}

}  // namespace
}  // namespace elbowroom::recorder
