#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "trial_steps.hpp"

namespace elbowroom::interposer {
namespace {

/// Another repetition lies in between, or a collective that is logged.
void break_off(AbTrial& trial, std::uint64_t pattern = 1) {
  trial.on_lost();
  trial.on_pattern(pattern);
}

/// Steps until the next trial, each in a phase of so many; another repetition lies between two phases.
std::uint64_t steps_until_trial(AbTrial& trial, std::uint64_t phase) {
  std::uint64_t steps = 0;
  while (trial.state() == AbTrial::State::settled) {
    Steps(trial).run(10'000);
    if (++steps % phase == 0) { break_off(trial); }
  }
  return steps;
}

// A loss that is logged, an evaluation or a checkpoint breaks the repetition off. Nothing begins anew by that.
TEST(AbTrial, ComesAgainHoweverShortThePhasesAre) {
  for (const std::uint64_t phase : {std::uint64_t{7}, std::uint64_t{100}, std::uint64_t{1'000'000}}) {
    AbTrial trial = started(2);
    run_trial(trial, {10'000, 10'000, 0, 0});
    EXPECT_EQ(steps_until_trial(trial, phase), AbTrial::recheck_after(1));
    run_trial(trial, {10'000, 8'000, 0, 0});
    EXPECT_EQ(trial.arm(), 1U);
    EXPECT_EQ(steps_until_trial(trial, phase), AbTrial::check_after(1)) << "a choice is checked soon";
    run_trial(trial, {10'000, 8'000, 0, 0});
    EXPECT_EQ(steps_until_trial(trial, phase), AbTrial::recheck_after(1));
    run_trial(trial, {10'000, 11'000, 0, 0});
    EXPECT_EQ(trial.arm(), 0U) << "what helped once may hurt later";
  }
}

/// Steps of 10,000 ns, or `with_an_arm`, of a program that breaks off after each `phase` of them. They end with the trial, or when
/// 10,000 have passed. How many had each arm.
std::array<unsigned, 3> steps_with_arms(AbTrial& trial, int phase, int breaks, std::uint64_t with_an_arm) {
  std::array<unsigned, 3> with{};
  for (int step = 1; step <= 10'000 && trial.state() == AbTrial::State::trying; ++step) {
    Steps one(trial);
    const unsigned arm = one.begin();
    ++with[arm];
    if (step % phase != 0) {
      one.end(arm == 0 ? 10'000 : with_an_arm);  // the last step before a break has no end
      continue;
    }
    for (int i = 0; i < breaks; ++i) { break_off(trial); }
  }
  return with;
}

// A block has five steps, and the last one before a break has no end. So none is ever over, and the arm of one would be tried for
// ever. Eight breaks end a trial, and four trials the comparison.
TEST(AbTrial, IsGivenUpWhereNoBlockFitsBetweenTwoBreaks) {
  for (const int phase : {1, 3, 5}) {
    AbTrial trial = started(3);
    const std::array<unsigned, 3> with = steps_with_arms(trial, phase, 1, 11'000);
    EXPECT_EQ(trial.state(), AbTrial::State::settled) << phase;
    EXPECT_EQ(trial.decisions(), 0U) << phase;
    EXPECT_EQ(with[0] + with[1] + with[2], 4U * 8U * static_cast<unsigned>(phase));
    EXPECT_EQ(trial.arm(), 0U);
  }
}

// With six steps a block fits, however often the repetition breaks off at once: what is lost is the block that had no step yet.
TEST(AbTrial, EndsWhereOneBlockFitsBetweenTwoBreaks) {
  for (const int phase : {6, 7, 10}) {
    for (const int breaks : {1, 2, 3}) {
      AbTrial trial = started(3);
      steps_with_arms(trial, phase, breaks, 9'000);
      EXPECT_EQ(trial.state(), AbTrial::State::settled) << phase << ", " << breaks;
      EXPECT_EQ(trial.decisions(), 1U) << phase << ", " << breaks;
      EXPECT_EQ(trial.arm(), 1U) << phase << ", " << breaks;
    }
  }
}

// Ranks agree first, and no step counts before that.
TEST(AbTrial, LosesNothingByPhasesThatEndBeforeAStepCounts) {
  AbTrial trial = started(2);
  for (int i = 0; i < 100; ++i) { break_off(trial); }
  EXPECT_EQ(trial.state(), AbTrial::State::trying);
  run_trial(trial, {10'000, 8'000, 0, 0});
  EXPECT_EQ(trial.arm(), 1U);
}

// The host is 30 steps ahead, so that times of one phase come while the other one compares. The arm takes 8 us instead of 10 in the
// first and 12 in the second.
TEST(AbTrial, TellsLateTimesOfTwoPhasesApart) {
  AbTrial trial;
  trial.begin(2);
  std::deque<std::array<std::uint64_t, 2>> late;  // step and its time
  std::uint64_t step = 0;
  for (std::uint64_t turn = 0; turn < 100; ++turn) {
    const std::uint64_t pattern = 1 + turn % 2;
    trial.on_pattern(pattern);
    for (int i = 0; i < 20; ++i) {
      trial.on_step_begun(++step);
      if (trial.arm() != 0) { trial.on_acted(); }
      const std::uint64_t with_arm = pattern == 1 ? 8'000 : 12'000;
      if (i < 19) { late.push_back({step, trial.arm() == 0 ? 10'000 : with_arm}); }  // the last one before a break has no end
      if (late.size() <= 30) { continue; }
      trial.on_step_time(late.front()[0], late.front()[1]);
      late.pop_front();
    }
    trial.on_lost();
  }
  for (const std::uint64_t pattern : {std::uint64_t{1}, std::uint64_t{2}}) {
    trial.on_pattern(pattern);
    EXPECT_EQ(trial.state(), AbTrial::State::settled) << pattern;
    EXPECT_EQ(trial.chosen(), pattern == 1 ? 1U : 0U) << pattern;
  }
}

// With one phase more than are remembered each is new whenever it is back.
TEST(AbTrial, StopsComparingWhereMorePhasesThanAreRememberedTakeTurns) {
  for (const std::optional<unsigned> remembered : {std::optional<unsigned>{}, std::optional<unsigned>{1}}) {
    AbTrial trial;
    trial.begin(2);
    unsigned last_with_arm = 0;
    for (unsigned turn = 0; turn < 10 * (AbTrial::kPhases + 1); ++turn) {
      trial.on_pattern(1 + turn % (AbTrial::kPhases + 1), remembered);
      for (int step = 0; step < 20; ++step) {
        Steps one(trial);
        if (one.begin() != 0) { last_with_arm = turn; }
        one.end(10'000);
      }
      trial.on_lost();
    }
    EXPECT_EQ(last_with_arm, AbTrial::kPhases + AbTrial::kMostForgotten - 2) << "the sixteenth is forgotten by the turn after it";
  }
}

TEST(AbTrial, ComparesAPhaseThatLastsHoweverManyWereForgotten) {
  AbTrial trial;
  trial.begin(2);
  for (std::uint64_t pattern = 1; pattern <= AbTrial::kPhases + AbTrial::kMostForgotten; ++pattern) { trial.on_pattern(pattern); }
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  for (unsigned step = 1; step < AbTrial::kRecheck; ++step) { Steps(trial).run(10'000); }
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  Steps(trial).run(10'000);
  run_trial(trial, {10'000, 8'000, 0, 0});
  EXPECT_EQ(trial.arm(), 1U);
}

}  // namespace
}  // namespace elbowroom::interposer
