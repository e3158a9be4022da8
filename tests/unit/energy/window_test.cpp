#include "elbowroom/energy/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom {
namespace {

constexpr Microseconds kTenth{1e5};

TEST(Windows, AreThirtySecondsWhereTheCounterMovesEveryTenthOfASecond) {
  const Result<EnergyWindows> windows = plan_windows(kTenth, std::nullopt);
  ASSERT_TRUE(windows);
  EXPECT_NEAR(windows->window.count(), 30e6, 1);
  EXPECT_NEAR(windows->warm_up.count(), 3e6, 1);
  EXPECT_NEAR(windows->cool_down.count(), 3e6, 1);
  EXPECT_NEAR(windows->idle.count(), 6e6, 1);
  EXPECT_NEAR(windows->sampling.count(), 20e3, 1);
}

TEST(Windows, OfAFastCounterAreASecond) {
  // 300 ms would do for one that moves every millisecond; a fifth of that would be read too often.
  const Result<EnergyWindows> windows = plan_windows(Microseconds(1000), std::nullopt);
  ASSERT_TRUE(windows);
  EXPECT_NEAR(windows->window.count(), 1e6, 1);
  EXPECT_NEAR(windows->sampling.count(), 500, 1);
}

TEST(Windows, AreAsLongAsAskedFor) {
  const Result<EnergyWindows> windows = plan_windows(kTenth, Microseconds(5e6));
  ASSERT_TRUE(windows);
  EXPECT_EQ(windows->window, Microseconds(5e6));
  // 22 moves of the counter are more than a fifth of 5 s.
  EXPECT_NEAR(windows->idle.count(), 2.2e6, 1);
}

TEST(Windows, AreRefusedWhereTheyHoldTooFewUpdates) {
  const Result<EnergyWindows> windows = plan_windows(kTenth, Microseconds(2e6));
  ASSERT_FALSE(windows);
  EXPECT_EQ(windows.error().message, "2 s, expected at least 2.2 s: the counter moves every 100 ms");
}

}  // namespace
}  // namespace elbowroom
