#include "interposer/core/durations.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

TEST(DurationSamples, AreKnownFromTheSecondOn) {
  DurationSamples samples;
  EXPECT_FALSE(samples.known());
  samples.add(90'000'000);  // the first launch also loads the kernel
  EXPECT_FALSE(samples.known());
  EXPECT_EQ(samples.expected(), 0U);
  samples.add(600'000);
  EXPECT_TRUE(samples.known());
  EXPECT_EQ(samples.expected(), 600'000U) << "the lower of two";
  samples.add(610'000);
  EXPECT_EQ(samples.expected(), 610'000U) << "the median of three";
}

TEST(DurationSamples, AskForThreeThenEvery64thUntilTheyAgree) {
  DurationSamples samples;
  for (std::uint64_t launch : {0U, 1U, 5U}) {
    EXPECT_TRUE(samples.wants(launch));
    samples.add(1'000'000);
  }
  EXPECT_FALSE(samples.wants(6));
  EXPECT_FALSE(samples.wants(63));
  EXPECT_TRUE(samples.wants(64));
  samples.add(1'050'000);
  EXPECT_FALSE(samples.converged());
  samples.add(2'000'000);  // of five, the greatest and the least are left out: 1.00, 1.00, 1.05 ms
  EXPECT_TRUE(samples.converged());
  EXPECT_FALSE(samples.wants(128));
}

TEST(DurationSamples, GiveUpOnWhatSpreadsForEver) {
  DurationSamples samples;
  for (unsigned i = 0; i < DurationSamples::kAtMost; ++i) {
    EXPECT_FALSE(samples.converged()) << i;
    samples.add(i % 2 == 0 ? 100'000 : 900'000);
  }
  EXPECT_TRUE(samples.converged());
}

TEST(DurationSamples, FollowTheLastEight) {
  DurationSamples samples;
  for (int i = 0; i < 5; ++i) { samples.add(1'000); }
  for (int i = 0; i < 8; ++i) { samples.add(3'000); }
  EXPECT_EQ(samples.expected(), 3'000U);
}

TEST(DurationSamples, HoldFourSecondsAtMost) {
  DurationSamples samples;
  samples.add(60'000'000'000);
  samples.add(60'000'000'000);
  EXPECT_EQ(samples.expected(), 4'294'967'295U);
}

TEST(TimingAllowance, AllowsOneLaunchInSixteenAfterTheStock) {
  TimingAllowance allowance;
  unsigned timed = 0;
  while (allowance.spend()) { ++timed; }
  EXPECT_EQ(timed, TimingAllowance::kStock / TimingAllowance::kPrice);
  timed = 0;
  for (int launch = 0; launch < 1'600; ++launch) {
    allowance.earn();
    timed += allowance.spend() ? 1 : 0;
  }
  EXPECT_EQ(timed, 100U);
}

}  // namespace
}  // namespace elbowroom::interposer
