#include "elbowroom/experiment/timed_rounds.hpp"

#include <gtest/gtest.h>

#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using testing::scripted;
using testing::ScriptedWorkload;
using testing::simulator;
using testing::small_case;

const auto kEveryRound = [](int) { return Status(); };

TEST(TimedRounds, CountNoRoundOfTheWarmUp) {
  // One schedule: its rounds are the answers in turn, 1 and 2 are warm-up.
  CaseTrials trials = scripted({Microseconds(1), Microseconds(2), Microseconds(3), Microseconds(4), Microseconds(5)});
  TimedSchedule schedule{"plain", Order::concurrent, {}, {}};
  TimedSchedule* const all[] = {&schedule};
  std::vector<int> over;
  ASSERT_TRUE(time_in_rounds(trials, all, {2, 3, 1}, [&](int rounds) {
    over.push_back(rounds);
    return Status();
  }));
  EXPECT_EQ(schedule.times, (std::vector<Microseconds>{Microseconds(3), Microseconds(4), Microseconds(5)}));
  EXPECT_EQ(over, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(TimedRounds, RunEveryScheduleOnceInEachInAnOrderOfItsOwn) {
  auto owned = std::make_unique<ScriptedWorkload>(std::deque<Result<Microseconds>>{Microseconds(1)});
  ScriptedWorkload& workload = *owned;
  CaseTrials trials(small_case(), simulator()->devices().front().limits, std::move(owned));
  TimedSchedule both{"both", Order::concurrent, {}, {}};
  TimedSchedule turn{"turn", Order::sequential, {}, {}};
  TimedSchedule* const all[] = {&both, &turn};
  ASSERT_TRUE(time_in_rounds(trials, all, {0, 20, 1}, kEveryRound));
  ASSERT_EQ(workload.orders.size(), 40U);
  int both_first = 0;
  for (std::size_t at = 0; at < 40; at += 2) {
    EXPECT_NE(workload.orders[at], workload.orders[at + 1]);
    both_first += workload.orders[at] == Order::concurrent ? 1 : 0;
  }
  EXPECT_GT(both_first, 0);
  EXPECT_LT(both_first, 20);
}

TEST(TimedRounds, NameTheScheduleThatFails) {
  CaseTrials trials = scripted({failed("the device is gone")});
  TimedSchedule schedule{"plain", Order::concurrent, {}, {}};
  TimedSchedule* const all[] = {&schedule};
  const Status timed = time_in_rounds(trials, all, {}, kEveryRound);
  ASSERT_FALSE(timed);
  EXPECT_EQ(timed.error().message, "plain: the device is gone");
}

TEST(TimedRounds, EndWhereTheyAreToldTo) {
  CaseTrials trials = scripted({Microseconds(1)});
  TimedSchedule schedule{"plain", Order::concurrent, {}, {}};
  TimedSchedule* const all[] = {&schedule};
  const Status timed =
      time_in_rounds(trials, all, {0, 9, 1}, [](int over) { return over < 2 ? Status() : Status(failed("interrupted")); });
  ASSERT_FALSE(timed);
  EXPECT_EQ(timed.error().message, "interrupted");
  EXPECT_EQ(schedule.times.size(), 2U);
}

}  // namespace
}  // namespace elbowroom
