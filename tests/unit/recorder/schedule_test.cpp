#include "recorder/schedule.hpp"

#include <gtest/gtest.h>

namespace elbowroom::recorder {
namespace {

constexpr Time kSecond = 1'000'000'000;
constexpr Repetition kNothing{};
/// A step of 50 ms, seen `count` times.
Repetition steps(std::size_t count) { return {100, count, 50'000'000}; }

Schedule schedule() { return {Limits{}, 100 * kSecond, 101 * kSecond}; }

TEST(Schedule, LooksAtTheProgramAndGoesOnWhereItIsWarm) {
  Schedule plan = schedule();
  EXPECT_EQ(plan.next(104 * kSecond, false, kNothing, 0), Action::wait);
  EXPECT_EQ(plan.next(105 * kSecond, false, kNothing, 0), Action::start) << "5 s behind the command's begin";
  EXPECT_EQ(plan.next(105 * kSecond + kSecond / 5, false, steps(2), 400), Action::wait) << "twice is no proof";
  // The process is 4.4 s old: 88 steps.
  EXPECT_EQ(plan.next(105 * kSecond + 2 * kSecond / 5, false, steps(6), 1000), Action::announce);
  EXPECT_EQ(plan.next(105 * kSecond + 3 * kSecond / 5, false, steps(9), 1500), Action::wait) << "shorter than a second";
  EXPECT_EQ(plan.next(106 * kSecond + kSecond / 5, false, steps(20), 3000), Action::finish);
  EXPECT_TRUE(plan.over());
  EXPECT_EQ(plan.next(200 * kSecond, true, steps(20), 0), Action::wait);
}

TEST(Schedule, ForgetsALookAtAColdProgramAndRecordsInTheEnd) {
  Schedule plan = schedule();
  EXPECT_EQ(plan.next(105 * kSecond, false, kNothing, 0), Action::start);
  EXPECT_EQ(plan.next(106 * kSecond, false, {100, 3, kSecond}, 300), Action::wait) << "5 steps of a second";
  EXPECT_EQ(plan.next(107 * kSecond, false, {100, 3, kSecond}, 300), Action::discard);
  EXPECT_EQ(plan.next(108 * kSecond, false, kNothing, 0), Action::wait);
  EXPECT_EQ(plan.next(110 * kSecond, false, kNothing, 0), Action::start) << "10 s";
  EXPECT_EQ(plan.next(112 * kSecond, false, kNothing, 300), Action::discard);
  EXPECT_EQ(plan.next(160 * kSecond, false, kNothing, 0), Action::start) << "60 s: --after";
  EXPECT_EQ(plan.next(180 * kSecond, false, kNothing, 0), Action::wait) << "no kernel has run yet";
  EXPECT_EQ(plan.next(194 * kSecond, false, kNothing, 300), Action::wait);
  EXPECT_EQ(plan.next(195 * kSecond, false, kNothing, 300), Action::finish) << "15 s without a repetition";
}

TEST(Schedule, FollowsAnotherRank) {
  Schedule plan = schedule();
  EXPECT_EQ(plan.next(103 * kSecond, true, kNothing, 0), Action::start);
  EXPECT_EQ(plan.next(106 * kSecond, true, steps(7), 900), Action::wait)
      << "it has begun its recording, and seven steps are too few";
  EXPECT_EQ(plan.next(107 * kSecond, true, steps(8), 1000), Action::finish);
  Schedule looking = schedule();
  EXPECT_EQ(looking.next(105 * kSecond, false, kNothing, 0), Action::start);
  EXPECT_EQ(looking.next(105 * kSecond, true, kNothing, 0), Action::announce);
}

TEST(Schedule, EndsWhereARecordingGrowsTooLarge) {
  Limits limits;
  limits.after = 0;
  Schedule plan(limits, 100 * kSecond, 101 * kSecond);
  EXPECT_EQ(plan.next(101 * kSecond, false, kNothing, 0), Action::start) << "--after 0";
  EXPECT_EQ(plan.next(102 * kSecond, false, kNothing, 999'999), Action::wait);
  EXPECT_EQ(plan.next(102 * kSecond, false, kNothing, 1'000'000), Action::finish);
}

TEST(Schedule, LooksAtNoProcessThatHasJustBegun) {
  Schedule plan(Limits{}, 100 * kSecond, 104 * kSecond);
  EXPECT_EQ(plan.next(105 * kSecond, false, kNothing, 0), Action::wait);
  EXPECT_EQ(plan.next(109 * kSecond, false, kNothing, 0), Action::wait);
  EXPECT_EQ(plan.next(110 * kSecond, false, kNothing, 0), Action::start);
}

}  // namespace
}  // namespace elbowroom::recorder
