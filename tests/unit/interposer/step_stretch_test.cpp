#include "interposer/core/step_stretch.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

TEST(StepStretches, CountWhatEndedBetweenTheirTimes) {
  StepStretches stretches;
  EXPECT_EQ(stretches.longest().repetitions, 0U);
  stretches.on_step(3, 2, 1'000);
  EXPECT_EQ(stretches.longest().repetitions, 0U) << "begun, and none ended";
  stretches.on_step(3, 2, 1'500);
  stretches.on_step(3, 2, 2'000);
  const StepStretch longest = stretches.longest();
  EXPECT_EQ(longest.begin_ns, 1'000U);
  EXPECT_EQ(longest.end_ns, 2'000U);
  EXPECT_EQ(longest.repetitions, 4U);
  EXPECT_EQ(longest.collectives, 3U);
}

// What lies between two stretches is of neither; the longer one is kept, whichever came first.
TEST(StepStretches, KeepTheLongest) {
  StepStretches stretches;
  for (const std::uint64_t now : {100U, 200U, 300U}) { stretches.on_step(8, 1, now); }
  stretches.on_lost();
  for (const std::uint64_t now : {9'000U, 9'100U}) { stretches.on_step(8, 1, now); }
  EXPECT_EQ(stretches.longest().begin_ns, 100U);
  EXPECT_EQ(stretches.longest().repetitions, 2U);
  stretches.on_step(8, 1, 9'300);
  EXPECT_EQ(stretches.longest().begin_ns, 9'000U);
  EXPECT_EQ(stretches.longest().length_ns(), 300U);
  EXPECT_EQ(stretches.longest().repetitions, 2U);
}

}  // namespace
}  // namespace elbowroom::interposer
