#include "explain/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::TraceText;
using ::testing::ElementsAre;

TEST(Steps, GoFromFirstKernelToFirstKernelOfTheProfilersSteps) {
  // Launched in 0..10, 10..20, 20..30; each step's kernels run 100 us later and last two times 40 us.
  TraceText text;
  for (int step = 0; step < 4; ++step) {
    text.annotation(fmt::format("ProfilerStep#{}", step), 10 * step, 10 * step + 10);
    text.kernel("forward", 7, 100 + 100 * step, 140 + 100 * step, 10 * step + 1);
    text.kernel("backward", 7, 150 + 100 * step, 190 + 100 * step, 10 * step + 2);
  }
  const Steps steps = find_steps(text.trace());
  // Of four alike the first is the profiler's own; the last ends with its work.
  EXPECT_THAT(steps.windows, ElementsAre(Interval{200'000, 300'000}, Interval{300'000, 400'000}, Interval{400'000, 490'000}));
  EXPECT_EQ(steps.dropped, 1U);
}

TEST(Steps, EndWithTheirWorkWhereTheProfilerPaused) {
  TraceText text;
  for (int step : {0, 1, 50, 51}) {
    text.annotation(fmt::format("ProfilerStep#{}", step), 1000 * step, 1000 * step + 1000);
    text.kernel("forward", 7, 1000 * step + 100, 1000 * step + 900, 1000 * step + 1);
  }
  const Steps steps = find_steps(text.trace());
  EXPECT_THAT(steps.windows,
              ElementsAre(Interval{1'100'000, 1'900'000}, Interval{50'100'000, 51'100'000}, Interval{51'100'000, 51'900'000}));
}

/// Four steps of `a`, `b` and `last` follow what `text` has, from 10 us on and 30 us each: three of them begin and end.
void expect_steps_of(TraceText& text, const char* last) {
  for (int step = 0; step < 4; ++step) {
    const int at = 10 + 30 * step;
    text.kernel("a", 7, at, at + 9, {}).kernel("b", 7, at + 10, at + 19, {}).kernel(last, 7, at + 20, at + 29, {});
  }
  const Steps steps = find_steps(text.trace());
  EXPECT_EQ(steps.anchor, "a repeating sequence of 3 kernels");
  EXPECT_THAT(steps.windows, ElementsAre(Interval{10'000, 40'000}, Interval{40'000, 70'000}, Interval{70'000, 100'000}));
}

TEST(Steps, AreFoundByTheSequenceThatRepeats) {
  // `b` runs twice in each; `a` is the rarest name.
  TraceText text;
  text.kernel("warmup", 7, 0, 5, {});
  expect_steps_of(text, "b");
}

// XLA times its choices before the first step: eight kernels that repeat, and never come again.
TEST(Steps, AreNoSequenceOfAProgramsStart) {
  TraceText text;
  for (int time = 0; time < 8; ++time) { text.kernel(time % 2 == 0 ? "p" : "q", 7, time, time + 1, {}); }
  expect_steps_of(text, "c");
}

TEST(Steps, AreTheWholeTraceWhereNothingRepeats) {
  TraceText text;
  text.kernel("a", 7, 10, 20, {}).kernel("b", 7, 30, 50, {});
  const Steps steps = find_steps(text.trace());
  EXPECT_EQ(steps.anchor, "the whole trace");
  EXPECT_THAT(steps.windows, ElementsAre(Interval{10'000, 50'000}));
}

}  // namespace
}  // namespace elbowroom::explain
