#include "interposer/core/step_marks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace elbowroom::interposer {
namespace {

using Mark = StepMarks::Mark;

/// Plays a pattern over and over; how many steps were marked.
int play(StepMarks& marks, const std::vector<std::uint64_t>& pattern, int times) {
  int steps = 0;
  for (int i = 0; i < times; ++i) {
    for (const std::uint64_t signature : pattern) { steps += marks.on_collective(signature) == Mark::step ? 1 : 0; }
  }
  return steps;
}

/// A step of an FSDP run: gathers in a row, then gathers and scatters in turn.
std::vector<std::uint64_t> fsdp_step() {
  std::vector<std::uint64_t> step(12, 1);
  for (int i = 0; i < 6; ++i) { step.insert(step.end(), {1, 2}); }
  return step;
}

TEST(StepMarks, FindAStepThatRepeats) {
  StepMarks marks;
  const std::vector<std::uint64_t> step = fsdp_step();  // 24 collectives, of which the first 12 repeat with period 1
  play(marks, step, 6);
  ASSERT_TRUE(marks.locked());
  EXPECT_EQ(marks.period(), 24U);
  EXPECT_EQ(play(marks, step, 10), 10);
}

TEST(StepMarks, TakeShortRepetitionsSeveralAtATime) {
  StepMarks marks;
  play(marks, {7}, 24);
  ASSERT_TRUE(marks.locked());
  EXPECT_EQ(marks.period(), 1U);
  // The first mark comes with the first collective after the lock, the next 6 later: 1 + 12 collectives hold three.
  EXPECT_EQ(play(marks, {7}, 13), 3);
}

TEST(StepMarks, NameARepetitionWhereverTheSearchBegan) {
  StepMarks first;
  play(first, {1, 2, 3}, 30);
  StepMarks second;
  second.on_collective(3);
  play(second, {1, 2, 3}, 30);
  StepMarks other;
  play(other, {1, 2, 4}, 30);
  ASSERT_TRUE(first.locked() && second.locked() && other.locked());
  EXPECT_EQ(first.pattern(), second.pattern());
  EXPECT_NE(first.pattern(), other.pattern());
}

TEST(StepMarks, TellWhenTheRepetitionStops) {
  StepMarks marks;
  play(marks, {1, 2}, 20);
  ASSERT_TRUE(marks.locked());
  EXPECT_EQ(marks.on_collective(9), Mark::lost);
  EXPECT_FALSE(marks.locked());
  play(marks, {1, 2}, 60);
  EXPECT_TRUE(marks.locked()) << "found again";
}

TEST(StepMarks, NeverFindOneInWhatDoesNotRepeat) {
  StepMarks marks;
  for (std::uint64_t i = 0; i < 20'000; ++i) { ASSERT_EQ(marks.on_collective(i), Mark::none); }
  EXPECT_FALSE(marks.locked());
}

// 12 x 1, (1 2) x 6: 24 collectives a step. After one step of it the next collective begins a step again.
TEST(StepMarks, KnowALastingRepetitionAgainAfterOneStep) {
  StepMarks marks;
  const std::vector<std::uint64_t> step = fsdp_step();
  play(marks, step, 20);
  ASSERT_TRUE(marks.locked());
  const std::uint64_t pattern = marks.pattern();
  for (int evaluation = 0; evaluation < 5; ++evaluation) {
    play(marks, {7, 8, 9}, 3);
    EXPECT_FALSE(marks.locked());
    play(marks, step, 1);
    ASSERT_TRUE(marks.locked()) << "after evaluation " << evaluation;
    EXPECT_EQ(marks.pattern(), pattern);
    EXPECT_EQ(play(marks, step, 10), 10);
  }
}

// 24 gathers of the forward pass find a repetition of one, and 66 more are eleven steps of six. It is forgotten all the same: the
// gathers of the next forward pass are no steps until there are 24 again.
TEST(StepMarks, AForwardPassOfManyLayersIsNoLastingRepetition) {
  StepMarks marks;
  play(marks, {1}, 90);
  ASSERT_TRUE(marks.locked());
  marks.on_collective(2);
  play(marks, {1}, 12);
  EXPECT_FALSE(marks.locked());
}

// The search begins in the middle of a step when the program goes on there: the same repetition, wherever it is met.
TEST(StepMarks, KnowItAgainFromAnywhereInAStep) {
  StepMarks marks;
  std::vector<std::uint64_t> step;
  for (std::uint64_t i = 0; i < 20; ++i) { step.push_back(i); }
  play(marks, step, 20);
  marks.on_collective(99);
  std::rotate(step.begin(), step.begin() + 7, step.end());
  play(marks, step, 1);
  ASSERT_TRUE(marks.locked());
  EXPECT_EQ(play(marks, step, 10), 10);
}

// 24 times 1 look like a repetition of one; the step of 48 is found all the same, since the short one never lasts.
TEST(StepMarks, AShortAccidentDoesNotStandInTheWay) {
  StepMarks marks;
  std::vector<std::uint64_t> step(40, 1);
  step.insert(step.end(), {2, 3, 4, 5, 6, 7, 8, 9});
  play(marks, step, 40);
  ASSERT_TRUE(marks.locked());
  EXPECT_EQ(marks.period(), 48U);
}

// Two repetitions may be a coincidence: 32 collectives are evidence enough in number, but only the 48th ends the third.
TEST(StepMarks, WantThreeRepetitions) {
  StepMarks marks;
  for (std::uint64_t i = 0; i < 48; ++i) {
    EXPECT_FALSE(marks.locked()) << i;
    marks.on_collective(i % 16);
  }
  EXPECT_TRUE(marks.locked());
}

TEST(StepMarks, FindLongSteps) {
  std::vector<std::uint64_t> step;
  for (std::uint64_t i = 0; i < 600; ++i) { step.push_back(i); }
  StepMarks marks;
  play(marks, step, 12);
  EXPECT_TRUE(marks.locked());
  EXPECT_EQ(marks.period(), 600U);
}

}  // namespace
}  // namespace elbowroom::interposer
