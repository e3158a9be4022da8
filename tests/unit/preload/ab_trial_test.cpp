#include "preload/core/ab_trial.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace headroom::preload {
namespace {

/// Steps of a program that takes `times[arm]` with each arm, until the trial is over; the arms in the order they ran.
std::vector<unsigned> run_trial(AbTrial& trial, const std::array<std::uint64_t, 4>& times) {
  std::vector<unsigned> ran;
  for (int i = 0; i < 1'000 && trial.state() == AbTrial::State::trying; ++i) {
    ran.push_back(trial.arm());
    trial.on_step(times[trial.arm()]);
  }
  return ran;
}

AbTrial started(unsigned arms) {
  AbTrial trial;
  trial.begin(arms);
  trial.on_pattern(1);
  return trial;
}

TEST(AbTrial, WaitsWithTheArmItWasGiven) {
  AbTrial trial;
  trial.begin(3);
  EXPECT_EQ(trial.state(), AbTrial::State::waiting);
  EXPECT_EQ(trial.arm(), 0U);
  trial.on_step(5);
  EXPECT_EQ(trial.state(), AbTrial::State::waiting) << "no step counts before the repetition was found";
}

TEST(AbTrial, RunsArmsForthAndBackAndKeepsTheFastest) {
  AbTrial trial = started(3);
  const std::vector<unsigned> ran = run_trial(trial, {10'000, 9'500, 8'000, 0});
  // 3 rounds of 3 blocks of 1 + 4 steps.
  ASSERT_EQ(ran.size(), 45U);
  std::vector<unsigned> blocks;
  for (std::size_t i = 0; i < ran.size(); i += 5) { blocks.push_back(ran[i]); }
  EXPECT_EQ(blocks, (std::vector<unsigned>{0, 1, 2, 2, 1, 0, 0, 1, 2}));
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  EXPECT_EQ(trial.arm(), 2U);
  EXPECT_EQ(trial.step_time(0), 10'000U);
  EXPECT_EQ(trial.step_time(2), 8'000U);
}

TEST(AbTrial, StaysPlainWhereNothingGains) {
  AbTrial trial = started(3);
  run_trial(trial, {10'000, 9'960, 12'000, 0});  // 0.4 % is no gain
  EXPECT_EQ(trial.arm(), 0U);
}

TEST(AbTrial, LeavesTheStepAfterAChangeOut) {
  AbTrial trial = started(2);
  for (int i = 0; i < 1'000 && trial.state() == AbTrial::State::trying; ++i) { trial.on_step(i % 5 == 0 ? 900'000 : 1'000); }
  EXPECT_EQ(trial.step_time(0), 1'000U);
}

TEST(AbTrial, IsNotMisledByOneBadRound) {
  AbTrial trial = started(2);
  // The second block of all, the first of arm 1, meets a hiccup.
  for (int i = 0; i < 1'000 && trial.state() == AbTrial::State::trying; ++i) {
    trial.on_step(i == 7 ? 900'000 : trial.arm() == 1 ? 8'000 : 10'000);
  }
  EXPECT_EQ(trial.arm(), 1U);
  EXPECT_EQ(trial.step_time(1), 8'000U);
}

TEST(AbTrial, ComparesAgainAfterLong) {
  AbTrial trial = started(2);
  run_trial(trial, {10'000, 8'000, 0, 0});
  for (unsigned i = 0; i + 1 < AbTrial::kRecheck; ++i) { trial.on_step(8'000); }
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  trial.on_step(8'000);
  EXPECT_EQ(trial.state(), AbTrial::State::trying);
  run_trial(trial, {10'000, 11'000, 0, 0});
  EXPECT_EQ(trial.arm(), 0U) << "what helped once may hurt later";
}

TEST(AbTrial, KeepsItsChoiceForTheSameRepetition) {
  AbTrial trial = started(2);
  run_trial(trial, {10'000, 8'000, 0, 0});
  trial.on_lost();
  trial.on_pattern(1);
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  EXPECT_EQ(trial.arm(), 1U);
  trial.on_pattern(2);
  EXPECT_EQ(trial.state(), AbTrial::State::trying) << "another repetition is another question";
}

TEST(AbTrial, BeginsABlockAnewThatWasInterrupted) {
  AbTrial trial = started(2);
  trial.on_step(1'000);
  trial.on_step(500'000);  // an evaluation in between
  trial.on_lost();
  trial.on_pattern(1);
  run_trial(trial, {1'000, 2'000, 0, 0});
  EXPECT_EQ(trial.step_time(0), 1'000U);
}

}  // namespace
}  // namespace headroom::preload
