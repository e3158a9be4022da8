#include "interposer/core/ab_trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "trial_steps.hpp"

namespace elbowroom::interposer {
namespace {

TEST(AbTrial, RunsArmsInRoundsAndKeepsTheFastest) {
  AbTrial trial = started(3);
  const std::vector<unsigned> ran = run_trial(trial, {10'000, 9'500, 8'000, 0});
  // The first look is after 4 rounds of 3 blocks of 1 + 4 steps, one block and a step later.
  ASSERT_EQ(ran.size(), 60U + 5U + 1U);
  const std::vector<unsigned> blocks = blocks_of(ran);
  for (auto round = blocks.begin(); round != blocks.begin() + 12; round += 3) {
    EXPECT_TRUE(std::is_permutation(round, round + 3, std::array{0U, 1U, 2U}.begin())) << "round " << (round - blocks.begin()) / 3;
  }
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  EXPECT_EQ(trial.arm(), 2U);
  EXPECT_EQ(trial.step_time(0), 10'000U);
  EXPECT_EQ(trial.step_time(2), 8'000U);
  EXPECT_NEAR(trial.finding(2).gain, 0.2, 1e-9);
  // All rounds alike: the error is kLeastSpread / sqrt 4, and 3.182 of it (t, 3 degrees) are 0.0008 of 8,000 beside 10,000.
  EXPECT_NEAR(trial.finding(2).high - trial.finding(2).low, 2 * 0.0008 * 0.8, 2e-5);
}

TEST(AbTrial, StaysPlainWhereNothingGains) {
  AbTrial trial = started(3);
  run_trial(trial, {10'000, 9'960, 12'000, 0});  // 0.4 % is no gain
  EXPECT_EQ(trial.arm(), 0U);
}

TEST(AbTrial, LeavesTheStepAfterAChangeOut) {
  AbTrial trial = started(2);
  for (int i = 0; i < 1'000 && trial.state() == AbTrial::State::trying; ++i) { Steps(trial).run(i % 5 == 0 ? 900'000 : 1'000); }
  EXPECT_EQ(trial.step_time(0), 1'000U);
}

// examples/raw_overlap.cu on 2 x H200: three of its four layers make a step here, so that a step begins at each of them in turn. Of
// both arms the second shortest step takes as long; the means are 4.1875 and 3.6775 ms.
TEST(AbTrial, FindsAGainThatOneStepInFourDoesNotShow) {
  constexpr std::array<std::array<std::uint64_t, 4>, 2> kTimes{
      {{3'790'000, 3'840'000, 4'520'000, 4'600'000}, {3'850'000, 3'850'000, 3'160'000, 3'850'000}}};
  AbTrial trial = started(2);
  for (unsigned i = 0; i < 240 && trial.state() == AbTrial::State::trying; ++i) {
    Steps step(trial);
    step.end(kTimes[step.begin()][i % 4]);
  }
  EXPECT_EQ(trial.arm(), 1U);
  EXPECT_NEAR(static_cast<double>(trial.step_time(0)), 4'187'500.0, 1.0);
  EXPECT_NEAR(static_cast<double>(trial.step_time(1)), 3'677'500.0, 1.0);
}

// examples/pytorch/overlap_loop.py runs 43 steps ahead, four rounds of two arms. The fortieth step ends the first look's rounds.
// Its time is known with step 83, and the next round begins with step 91.
TEST(AbTrial, ProvesAnArmWhereTheHostIsRoundsAhead) {
  constexpr std::array<std::uint64_t, 2> kTimes{6'510, 5'670};
  constexpr std::uint64_t kAhead = 43;
  AbTrial trial = started(2);
  std::vector<unsigned> arms{0};
  std::uint64_t step = 0;
  while (trial.state() == AbTrial::State::trying && step < 480) {
    trial.on_step_begun(++step);
    trial.on_acted();
    arms.push_back(trial.arm());
    if (step > kAhead) { trial.on_step_time(step - kAhead, kTimes[arms[step - kAhead]]); }
  }
  EXPECT_EQ(trial.arm(), 1U);
  EXPECT_EQ(step, 86U);
}

// 24 rounds would be 360 steps. Two rounds are 30, the first block of the third 5 more: then it is seen that nothing is gained.
TEST(AbTrial, EndsAsSoonAsNothingCanBeProvenAnyMore) {
  AbTrial trial = started(3);
  EXPECT_EQ(run_trial(trial, {10'000, 10'000, 10'100, 0}).size(), 36U);
  EXPECT_EQ(trial.arm(), 0U);
  EXPECT_EQ(trial.decisions(), 1U);
  EXPECT_EQ(trial.step_time(2), 10'100U) << "what was seen of it is reported";
  EXPECT_NEAR(trial.finding(2).gain, -0.01, 1e-9);
}

// Arm 1 goes after 35 steps, in the place of its block; then arms 0 and 2 have 5 + 5 steps in each of two rounds, after
// which the first look proves the gain, a block and a step later.
TEST(AbTrial, DropsAnArmAndGoesOnWithTheOthers) {
  AbTrial trial = started(3);
  const std::vector<unsigned> ran = run_trial(trial, {10'000, 10'000, 8'000, 0});
  ASSERT_EQ(ran.size(), 30U + 20U + 5U + 1U);
  EXPECT_EQ(ran[35], 2U);
  EXPECT_EQ(trial.arm(), 2U);
  EXPECT_NEAR(trial.finding(2).gain, 0.2, 1e-9);
}

// One round and a block are 20 steps.
TEST(AbTrial, DropsAnArmThatActedOnNothing) {
  AbTrial trial = started(3);
  std::uint64_t step = 5'000;
  while (trial.state() == AbTrial::State::trying) { trial.on_step_begun(++step); }
  EXPECT_EQ(step, 5'021U) << "no time was needed to see that";
  EXPECT_EQ(trial.arm(), 0U);
  EXPECT_EQ(trial.step_time(1), 0U);
}

// Arm 1 gains 2 % in each round, and is proven after four. Arm 2 gains 1 % and 9 % in turn: 5 % with a spread of 4.1 to 4.7 %. One
// look at one of two arms may have a chance of 0.0038. Of eight rounds t = 3.3 has 0.0065, of 16 t = 4.8 has 0.0001.
TEST(AbTrial, GoesOnWhereAnotherArmMayGainMoreThanTheOneThatIsProven) {
  AbTrial trial = started(3);
  int steps = 0;
  for (; trial.state() == AbTrial::State::trying; ++steps) {
    Steps step(trial);
    const unsigned arm = step.begin();
    step.end(arm == 0 ? 100'000 : arm == 1 ? 98'000 : steps / 15 % 2 == 0 ? 99'000 : 91'000);
  }
  EXPECT_EQ(steps, 240 + 5 + 1);
  EXPECT_EQ(trial.arm(), 2U);
}

// The host is 15 steps ahead, more than a block of 5 and a round of 10 less one, so what it knows at a look are the rounds before
// the last one: in the fourth round, after 35 steps, the first two.
TEST(AbTrial, LooksAtOlderRoundsWhereTheHostIsFarAhead) {
  AbTrial trial = started(2);
  std::uint64_t step = 7'000;
  while (trial.state() == AbTrial::State::trying) {
    trial.on_step_begun(++step);
    trial.on_acted();
    if (step > 7'015) { trial.on_step_time(step - 15, 1'000); }
  }
  EXPECT_EQ(step, 7'036U);
  for (std::uint64_t late = 7'022; late <= step; ++late) { trial.on_step_lost(late); }
  EXPECT_EQ(trial.state(), AbTrial::State::settled) << "of a trial that is over nothing is awaited";
}

// Two devices of one process, four collectives of a step on each: a stream holds a thousand launches, so the host is about 350
// steps of six collectives ahead. With room for 256 both trials were given up.
TEST(AbTrial, DecidesWhereTheHostIsHundredsOfStepsAhead) {
  constexpr std::array<std::uint64_t, 2> kTimes{1'000, 900};
  constexpr std::uint64_t kAhead = 350;
  AbTrial trial = started(2);
  std::vector<unsigned> arms;
  for (std::uint64_t step = 1; step <= 1'000 && trial.state() == AbTrial::State::trying; ++step) {
    trial.on_step_begun(step);
    trial.on_acted();
    arms.push_back(trial.arm());
    if (step > kAhead) { trial.on_step_time(step - kAhead, kTimes[arms[step - kAhead - 1]]); }
  }
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  EXPECT_EQ(trial.arm(), 1U);
  EXPECT_EQ(arms.size(), 240U + kAhead) << "the last of the trial's 240 steps is timed";
}

// The evaluation falls into the first block of arm 1, whose two timed steps took ten times as long before it: they count for
// nothing.
TEST(AbTrial, BeginsABlockAnewThatWasInterrupted) {
  AbTrial trial = started(2);
  for (int i = 0; i < 5; ++i) { Steps(trial).run(1'000); }
  for (int i = 0; i < 3; ++i) { Steps(trial).run(10'000); }
  trial.on_lost();
  trial.on_pattern(1);
  const std::vector<unsigned> ran = run_trial(trial, {1'000, 900, 0, 0});
  EXPECT_EQ(std::vector<unsigned>(ran.begin(), ran.begin() + 6), (std::vector<unsigned>{1, 1, 1, 1, 1, 1}))
      << "the whole block, then the first step of the next, which is arm 1's as well";
  EXPECT_EQ(ran.size(), 41U) << "the 46 steps of a trial less the block before";
  EXPECT_EQ(trial.step_time(1), 900U);
}

// A step lasts as long as on its slowest rank: ranks that try other arms at a time spoil each other's times.
TEST(AbTrial, RanksTryTheSameArmsHoweverLateTheyLearnTheTimes) {
  AbTrial early = started(3);
  AbTrial late = started(3);
  constexpr std::uint64_t lag = 12;
  for (std::uint64_t step = 1; step <= 3 * AbTrial::recheck_after(1); ++step) {
    early.on_step_begun(step);
    late.on_step_begun(step);
    const bool both_try = early.state() == AbTrial::State::trying && late.state() == AbTrial::State::trying;
    if (both_try) { ASSERT_EQ(early.arm(), late.arm()) << "step " << step; }
    early.on_step_time(step, 1'000);
    if (step > lag) { late.on_step_time(step - lag, 1'000); }
    // The program's repetition stops for a while now and then, on all ranks at once.
    if (step % 1'000 == 700) {
      for (AbTrial* rank : {&early, &late}) {
        rank->on_lost();
        rank->on_pattern(1);
      }
    }
  }
}

/// Runs a trial of two arms to its end. A step takes 100,000 with arm 0, and with arm 1 what is given for even and odd rounds. How
/// many steps that took.
int steps_of_rounds(AbTrial& trial, std::uint64_t even, std::uint64_t odd) {
  int steps = 0;
  for (; trial.state() == AbTrial::State::trying; ++steps) {
    Steps step(trial);
    const unsigned arm = step.begin();
    step.end(arm == 0 ? 100'000 : steps / 10 % 2 == 0 ? even : odd);
  }
  return steps;
}

// Rounds whose differences are 1 % and 3 % in turn: 2 %. Of four the error is 0.58 %, and t = 3.5 has a chance of 0.02 with 3
// degrees. Of eight it is 0.38 %, and t = 5.3 has 0.0006 with 7. One look of the first decision may have 0.05 x 6 / pi^2 / 4 =
// 0.0076, one of the tenth 0.00008, so that this one needs 16 rounds. Looks come a block and a step after their last round.
TEST(AbTrial, AsksForMoreEvidenceTheOftenerItDecides) {
  AbTrial early = started(2);
  EXPECT_EQ(steps_of_rounds(early, 99'000, 97'000), 80 + 5 + 1);
  EXPECT_EQ(early.arm(), 1U);

  AbTrial late = started(2);
  while (late.decisions() < 9) { Steps(late).run(100'000); }
  while (late.state() == AbTrial::State::settled) { Steps(late).run(100'000); }
  EXPECT_EQ(steps_of_rounds(late, 99'000, 97'000), 160 + 5 + 1 - 1) << "one step of it has passed";
  EXPECT_EQ(late.decisions(), 10U);
  EXPECT_EQ(late.arm(), 1U);
}

// Rounds that gain 4 % and cost 2 % in turn: 1 % with a spread of 3.1 %. Of 24 rounds the error is 0.63 %, t = 1.7, and the chance
// of such a t with 23 degrees is 0.05, more than 0.0076. The mean and one and a half errors stay above the 2.6 errors that the end
// would ask for, so the arm is not dropped before.
TEST(AbTrial, DoesNotTakeAnArmThatIsNotProvenFaster) {
  AbTrial trial = started(2);
  EXPECT_EQ(steps_of_rounds(trial, 96'000, 102'000), 240) << "the arm was compared to the end";
  EXPECT_GT(trial.finding(1).gain, 0.01);
  EXPECT_EQ(trial.arm(), 0U);
}

// Rounds that gain 0.8 % and 0.1 % in turn: 0.45 % with a spread of 0.36 %. Of 24 rounds the error is 0.07 %, t = 6.2, and the
// chance of such a t with 23 degrees is 0.000001. The mean and one and a half errors are 0.56 % or more at the end of each pair of
// rounds, so the arm is not dropped before.
TEST(AbTrial, DoesNotChangeTheProgramForAGainOfLessThanHalfAPercent) {
  AbTrial trial = started(2);
  EXPECT_EQ(steps_of_rounds(trial, 99'200, 99'900), 240) << "the arm was compared to the end";
  EXPECT_GT(trial.finding(1).low, 0.0);
  EXPECT_EQ(trial.arm(), 0U);
}

// The device is behind: the last times come when an evaluation has begun.
TEST(AbTrial, ChoosesForARepetitionThatIsOverWithoutPuttingItInForce) {
  AbTrial trial = started(2);
  std::vector<unsigned> arms;
  for (std::uint64_t step = 20'001; step <= 20'241; ++step) {
    trial.on_step_begun(step);
    trial.on_acted();
    arms.push_back(trial.arm());
  }
  EXPECT_EQ(arms.back(), 0U) << "until all times are known the program runs as it is";
  trial.on_lost();
  for (std::uint64_t step = 20'001; step <= 20'240; ++step) { trial.on_step_time(step, arms[step - 20'001] == 1 ? 8'000 : 10'000); }
  EXPECT_EQ(trial.chosen(), 1U);
  EXPECT_EQ(trial.arm(), 0U);
}

TEST(AbTrial, ForgetsThePhaseThatWasEnteredLongestAgo) {
  AbTrial trial = started(2);
  run_trial(trial, {10'000, 8'000, 0, 0});
  for (std::uint64_t pattern = 2; pattern <= AbTrial::kPhases; ++pattern) { trial.on_pattern(pattern); }
  trial.on_pattern(1);
  EXPECT_EQ(trial.arm(), 1U) << "one of four";
  trial.on_pattern(9);  // for 2, which was entered longest ago
  trial.on_pattern(1);
  EXPECT_EQ(trial.arm(), 1U);
}

TEST(AbTrial, LeavesAProgramAloneWhoseStepsHaveNoTimes) {
  constexpr std::uint64_t kUntilGivenUp = (AbTrial::kMostUnmeasured + 1) * AbTrial::kMostAhead;
  AbTrial trial = started(3);
  for (std::uint64_t step = 1; step <= kUntilGivenUp; ++step) {
    trial.on_step_begun(step);
    trial.on_acted();
  }
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  for (std::uint64_t step = 1; step <= 9'000; ++step) {
    trial.on_step_begun(kUntilGivenUp + step);
    ASSERT_EQ(trial.arm(), 0U);
  }
  trial.on_pattern(2);
  run_trial(trial, {10'000, 8'000, 9'000, 0});
  EXPECT_EQ(trial.arm(), 1U) << "another repetition may have times";
}

// Nobody says that the time of step 12 is lost; its place is wanted again kMostAhead steps later. A trial of two arms that are
// alike ends after 21 to 30 steps.
TEST(AbTrial, BeginsAnewWhenATimeNeverComes) {
  AbTrial trial = started(2);
  const auto run = [&](std::uint64_t step) {
    trial.on_step_begun(step);
    trial.on_acted();
    if (step != 12) { trial.on_step_time(step, 1'000); }
  };
  for (std::uint64_t step = 1; step < 12 + AbTrial::kMostAhead; ++step) { run(step); }
  EXPECT_EQ(trial.state(), AbTrial::State::trying);
  for (std::uint64_t step = 12; step <= 12 + 30; ++step) { run(AbTrial::kMostAhead + step); }
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
}

}  // namespace
}  // namespace elbowroom::interposer
