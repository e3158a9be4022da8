#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "interposer/core/table.hpp"
#include "trial_steps.hpp"

namespace elbowroom::interposer {
namespace {

/// The blocks of a repetition's next trial, of two arms. It runs to its end, as the arm that is not in force takes less.
std::vector<unsigned> next_blocks(AbTrial& trial) {
  std::vector<unsigned> ran;
  while (trial.state() == AbTrial::State::settled) {
    Steps step(trial);
    ran = {step.begin()};
    step.end(10'000);
  }
  const std::uint64_t with_arm_1 = trial.chosen() == 0 ? 9'000 : 11'000;
  const std::vector<unsigned> rest = run_trial(trial, {10'000, with_arm_1, 0, 0});
  ran.insert(ran.end(), rest.begin(), rest.end());
  return blocks_of(ran);
}

TEST(AbTrial, HasOneOrderInTheFirstTrialOfAllRepetitions) {
  AbTrial trial = started(4);
  const std::vector<unsigned> first = blocks_of(run_trial(trial, {10'000, 9'000, 8'500, 8'000}));
  EXPECT_EQ(std::vector<unsigned>(first.begin(), first.begin() + 4), (std::vector<unsigned>{0, 1, 2, 3}));
  for (std::uint64_t pattern = 2; pattern < 40; ++pattern) {
    AbTrial other;
    other.begin(4);
    other.on_pattern(pattern);
    EXPECT_EQ(blocks_of(run_trial(other, {10'000, 9'000, 8'500, 8'000})), first) << pattern;
  }
}

// Chance gives two trials of two arms one order one time in 70. So one of 70 has that of the first, and seven or more have it once
// in 15,000 times.
TEST(AbTrial, HasAnOrderOfItsOwnInLaterTrials) {
  AbTrial first = started(2);
  next_blocks(first);
  const std::vector<unsigned> order = next_blocks(first);
  unsigned of_later_trials = 0;
  unsigned of_other_repetitions = 0;
  for (std::uint64_t i = 0; i < 70; ++i) {
    of_later_trials += next_blocks(first) == order ? 1 : 0;
    AbTrial other;
    other.begin(2);
    other.on_pattern(mix(100 + i));
    next_blocks(other);
    of_other_repetitions += next_blocks(other) == order ? 1 : 0;
  }
  EXPECT_LT(of_later_trials, 7U);
  EXPECT_LT(of_other_repetitions, 7U);
}

// A time of its first block is lost, so that the trial begins anew. Before its next step the repetition breaks off.
TEST(AbTrial, BeginsWithTheFirstArmOfItsOrderAlsoAfterALoss) {
  for (std::uint64_t pattern = 1; pattern <= 8; ++pattern) {
    AbTrial trial = started(2);
    trial.on_pattern(pattern);
    next_blocks(trial);
    AbTrial lost = trial;
    while (lost.state() == AbTrial::State::settled) { Steps(lost).run(10'000); }
    Steps second(lost);
    second.begin();
    second.lose();
    lost.on_lost();
    lost.on_pattern(pattern);
    EXPECT_EQ(blocks_of(run_trial(lost, {10'000, 11'000, 0, 0})), next_blocks(trial)) << pattern;
  }
}

// 2,048 steps and up to 15 turns of 120, the steps of 8 rounds of 3 blocks of 5 steps. The check of a choice comes after 1 to 4.
TEST(AbTrial, ComesAgainAtOneOfSixteenTimes) {
  std::set<std::uint64_t> times;
  std::set<std::uint64_t> checks;
  for (std::uint64_t pattern = 1; pattern <= 1'000; ++pattern) {
    times.insert(AbTrial::recheck_after(mix(pattern)));
    checks.insert(AbTrial::check_after(mix(pattern)));
  }
  EXPECT_EQ(times.size(), 16U);
  EXPECT_EQ(*times.begin(), 2'048U);
  EXPECT_EQ(*times.rbegin(), 3'848U);
  EXPECT_EQ(checks, (std::set<std::uint64_t>{120, 240, 360, 480}));
}

// 8,002 is 0.025 % more than 8,000: no proof that the choice costs anything, but it gains nothing either.
TEST(AbTrial, KeepsAnArmThatGainsInTheNextTrialToo) {
  const auto check = [](AbTrial& trial, std::uint64_t plain, std::uint64_t with_it) {
    while (trial.state() == AbTrial::State::settled) { Steps(trial).run(8'000); }
    run_trial(trial, {plain, with_it, 0, 0});
    return trial.arm();
  };
  AbTrial trial = started(2);
  run_trial(trial, {10'000, 8'000, 0, 0});
  EXPECT_EQ(check(trial, 8'000, 8'002), 0U);

  AbTrial checked = started(2);
  run_trial(checked, {10'000, 8'000, 0, 0});
  ASSERT_EQ(check(checked, 8'010, 8'000), 1U);
  EXPECT_EQ(check(checked, 8'000, 8'002), 1U) << "from then on another arm must be proven faster";
}

}  // namespace
}  // namespace elbowroom::interposer
