#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backend/watchdog.hpp"

namespace elbowroom::detail {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, IsSilentWhenStoppedInTime) {
  std::atomic<int> calls = 0;
  {
    Watchdog watchdog(1h, [&] { ++calls; });
    EXPECT_TRUE(watchdog.stop());
    EXPECT_TRUE(watchdog.stop());
  }
  EXPECT_EQ(0, calls);
}

TEST(Watchdog, LetsGoOfWhatNobodyElseLetsGo) {
  std::atomic<bool> released = false;
  Watchdog watchdog(20ms, [&] { released = true; });
  while (!released) {
    std::this_thread::yield();  // a call that returns only when the watchdog acts
  }
  EXPECT_FALSE(watchdog.stop());
  EXPECT_FALSE(watchdog.stop());
}

TEST(Watchdog, CallsOnceOrNeverHoweverTheRaceEnds) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> calls = 0;
    bool in_time = false;
    {
      Watchdog watchdog(1ms, [&] { ++calls; });
      std::this_thread::sleep_for(std::chrono::microseconds(950 + round % 100));
      in_time = watchdog.stop();
    }
    EXPECT_EQ(in_time ? 0 : 1, calls);
  }
}

TEST(Watchdog, ItsEndStopsIt) {
  std::atomic<int> calls = 0;
  {
    Watchdog watchdog(1h, [&] { ++calls; });
  }
  EXPECT_EQ(0, calls);
}

}  // namespace
}  // namespace elbowroom::detail
