#include "backend_sim/sm_replay.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "small_machine.hpp"

namespace elbowroom::sim {
namespace {

/// The same tasks three times, each time behind all before.
std::vector<Task> three_times(const std::vector<Task>& once) {
  std::vector<Task> tasks = once;
  const int count = static_cast<int>(once.size());
  for (int time = 1; time < 3; ++time) {
    for (Task task : once) {
      for (int& before : task.after) { before += time * count; }
      for (int& before : task.after_begun) { before += time * count; }
      for (int before = (time - 1) * count; before < time * count; ++before) { task.after.push_back(before); }
      tasks.push_back(task);
    }
  }
  return tasks;
}

/// Two lanes of a few kernels each, with some edges between them.
std::vector<Task> any_tasks() {
  std::vector<Task> tasks;
  const int count = *rc::gen::inRange(2, 9);
  for (int at = 0; at < count; ++at) {
    Task task = at % 2 == 0 ? compute_launch() : comm_launch(*rc::gen::arbitrary<bool>());
    if (at > 0 && *rc::gen::arbitrary<bool>()) { task.after.push_back(*rc::gen::inRange(0, at)); }
    if (at > 0 && *rc::gen::arbitrary<bool>()) { task.after_begun.push_back(*rc::gen::inRange(0, at)); }
    tasks.push_back(task);
  }
  return tasks;
}

// What was simulated is not simulated again, and takes as long as the first time.
RC_GTEST_PROP(SmReplay, WhatIsKnownTakesAsLongAsBefore, ()) {
  Machine some = machine(*rc::gen::inRange(1, 12));
  some.launch_gap = *rc::gen::inRange(0, 3);
  some.block_spread = *rc::gen::element(0.0, 0.02);
  ComputeProfile computation = compute(*rc::gen::inRange<std::int64_t>(1, 60));
  computation.traffic = *rc::gen::inRange(0, 100'000);
  computation.memory_share = 1;
  CommProfile collective = comm(*rc::gen::inRange(1, 9));
  collective.bytes = *rc::gen::inRange(0, 1'000'000);
  collective.traffic = 2;
  const std::vector<Task> once = any_tasks();
  const std::vector<TaskTimes> times = run(some, computation, collective, three_times(once)).tasks;
  const auto count = static_cast<std::ptrdiff_t>(once.size());
  const auto end_of = [&](std::ptrdiff_t first) {
    return std::ranges::max_element(times.begin() + first, times.begin() + first + count, {}, &TaskTimes::end)->end;
  };
  const double passed = end_of(count) - end_of(0);
  for (std::size_t at = once.size(); at < 2 * once.size(); ++at) {
    const TaskTimes& live = times[at];
    const TaskTimes& again = times[at + once.size()];
    if (live.end == kNever) { continue; }
    RC_ASSERT(std::abs(again.begin - live.begin - passed) < 1e-3);
    RC_ASSERT(std::abs(again.all_begun - live.all_begun - passed) < 1e-3);
    RC_ASSERT(std::abs(again.end - live.end - passed) < 1e-3);
  }
}

// Three kernels of 10 us, one behind the other: the second and the third are known.
TEST(SmReplay, AHistoryAnswersForEqualKernels) {
  const std::vector<SimKernel> kernels{kernel(compute(4))};
  const SmCapacity capacity = *SmCapacity::make(h200(), kernels);
  const Machine small = machine(2);
  SmHistory history(1);
  SmReplay first(small, capacity, kernels, 1, history);
  SmReplay second(small, capacity, kernels, 1, history);
  for (SmReplay* sms : {&first, &second}) {
    sms->advance(100);
    sms->begin(0, 0, std::nullopt, false);
    EXPECT_EQ(sms->place(), (std::vector<PlacedBlocks>{{0, 4, true}}));
    sms->settle();
    EXPECT_DOUBLE_EQ(sms->next(), 110);
    EXPECT_EQ(sms->advance(110), (std::vector<EndedBlocks>{{0, 4}}));
    EXPECT_TRUE(sms->place().empty());
    sms->settle();
    EXPECT_EQ(sms->next(), kNever);
  }
}

// The second device gets another kernel 4 us after the first one began. That is not known: what the SMs did up to there is done
// once more, and the rest for the first time. Two SMs hold two blocks each: those of the second kernel begin when the first ones
// end.
TEST(SmReplay, WhatIsNotKnownIsSimulatedFromTheLatestQuietStateOn) {
  const std::vector<SimKernel> kernels{kernel(compute(4)), kernel(comm(1))};
  const SmCapacity capacity = *SmCapacity::make(h200(), kernels);
  const Machine small = machine(2);
  SmHistory history(2);
  const auto begun = [&](SmReplay& sms) {
    sms.advance(0);
    sms.begin(0, 0, std::nullopt, false);
    sms.place();
    sms.settle();
  };
  SmReplay first(small, capacity, kernels, 2, history);
  begun(first);
  first.advance(10);
  first.place();
  first.settle();
  SmReplay second(small, capacity, kernels, 2, history);
  begun(second);
  second.advance(4);
  second.begin(1, 1, std::nullopt, false);
  EXPECT_TRUE(second.place().empty());
  second.settle();
  EXPECT_DOUBLE_EQ(second.next(), 10);
  EXPECT_EQ(second.advance(10), (std::vector<EndedBlocks>{{0, 4}}));
  EXPECT_EQ(second.place(), (std::vector<PlacedBlocks>{{1, 1, true}}));
  second.settle();
  EXPECT_DOUBLE_EQ(second.next(), 15);
}

}  // namespace
}  // namespace elbowroom::sim
