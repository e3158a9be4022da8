#include <gtest/gtest.h>

#include <vector>

#include "trial_steps.hpp"

namespace elbowroom::interposer {
namespace {

AbTrial started_with(unsigned remembered) {
  AbTrial trial;
  trial.begin(3);
  trial.on_pattern(1, remembered);
  return trial;
}

/// Runs so many steps of 10,000 ns, all of which must run with that arm.
void expect_steps_with(AbTrial& trial, unsigned arm, unsigned steps) {
  for (unsigned i = 0; i < steps; ++i) {
    Steps step(trial);
    EXPECT_EQ(step.begin(), arm) << i;
    step.end(10'000);
  }
}

std::vector<AbTrial::Choice> choices_of(const AbTrial& trial) {
  std::vector<AbTrial::Choice> choices;
  trial.for_each_choice([&](const AbTrial::Choice& choice) { choices.push_back(choice); });
  return choices;
}

TEST(RememberedArm, OfTheProgramAsItIsWaitsForTheUsualComparison) {
  AbTrial trial = started_with(0);
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  EXPECT_EQ(trial.remembered(), 0U);
  expect_steps_with(trial, 0, AbTrial::kRecheck - 1);
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  EXPECT_EQ(trial.decisions(), 0U);
  Steps(trial).begin();
  EXPECT_EQ(trial.state(), AbTrial::State::trying);
}

TEST(RememberedArm, IsInForceAtOnceAndCheckedSoon) {
  AbTrial trial = started_with(2);
  EXPECT_EQ(trial.arm(), 2U);
  expect_steps_with(trial, 2, AbTrial::kCheckSoon - 1);
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  Steps(trial).begin();
  EXPECT_EQ(trial.state(), AbTrial::State::trying);
  run_trial(trial, {10'000, 9'950, 9'980, 0});  // 0.2 %: too little to begin with, and enough to go on with
  EXPECT_EQ(trial.arm(), 2U);
  EXPECT_EQ(trial.decisions(), 1U);
  ASSERT_EQ(choices_of(trial).size(), 1U);
  EXPECT_EQ(choices_of(trial)[0].arm, 2U);
  EXPECT_EQ(choices_of(trial)[0].decisions, 1U);
  EXPECT_NEAR(choices_of(trial)[0].finding.gain, 0.002, 1e-6);
  // The others may have gained, if all of them remember: what is chosen in the first trial is checked again.
  expect_steps_with(trial, 2, static_cast<unsigned>(AbTrial::check_after(1)) - 1);
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  Steps(trial).run(10'000);
  run_trial(trial, {10'000, 10'000, 10'001, 0});
  EXPECT_EQ(trial.arm(), 0U);
}

TEST(RememberedArm, IsGivenUpWhereItGainsNothing) {
  for (const std::uint64_t with_it : {10'000U, 10'010U}) {  // 0.1 % more is no proof, which an own choice would need
    AbTrial trial = started_with(2);
    expect_steps_with(trial, 2, AbTrial::kCheckSoon - 1);
    Steps(trial).run(10'000);
    run_trial(trial, {10'000, 10'050, with_it, 0});
    EXPECT_EQ(trial.state(), AbTrial::State::settled);
    EXPECT_EQ(trial.arm(), 0U) << with_it;
    EXPECT_EQ(trial.remembered(), 2U) << "the report says what became of it";
    EXPECT_EQ(choices_of(trial)[0].decisions, 1U);
  }
}

TEST(RememberedArm, IsGivenUpWhereItActsOnNothing) {
  AbTrial trial = started_with(1);
  std::uint64_t step = 1'000'000;
  // Steps with it happen to be shorter, which is none of its doing.
  for (unsigned i = 0; i < 200 && (i < AbTrial::kCheckSoon || trial.state() == AbTrial::State::trying); ++i) {
    trial.on_step_begun(++step);
    trial.on_step_time(step, trial.arm() == 1 ? 9'900 : 10'000);
  }
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  EXPECT_EQ(trial.decisions(), 1U);
  EXPECT_EQ(trial.arm(), 0U);
}

TEST(RememberedArm, IsCheckedHoweverShortItsPhasesAre) {
  AbTrial trial = started_with(1);
  // Steps of the phase in pieces of ten: the check is due at the 32nd.
  for (unsigned i = 0; i < 3; ++i) {
    expect_steps_with(trial, 1, 10);
    trial.on_lost();
    EXPECT_EQ(trial.arm(), 0U);
    trial.on_pattern(1);
  }
  expect_steps_with(trial, 1, 1);
  EXPECT_EQ(trial.state(), AbTrial::State::settled);
  Steps(trial).begin();
  EXPECT_EQ(trial.state(), AbTrial::State::trying);
}

TEST(RememberedArm, CountsForARepetitionThatIsNewAlone) {
  AbTrial trial = started_with(0);
  trial.on_lost();
  trial.on_pattern(1, 2);
  EXPECT_EQ(trial.arm(), 0U) << "this phase has its choice";
  trial.on_pattern(2);
  EXPECT_EQ(trial.state(), AbTrial::State::trying);
  EXPECT_EQ(trial.remembered(), std::nullopt);
  EXPECT_EQ(choices_of(trial).size(), 1U) << "the second has none yet";
}

TEST(OwnChoices, AreCountedByTheTrialsThatEndedWithThem) {
  AbTrial trial;
  trial.begin(3);
  trial.on_pattern(7);
  EXPECT_TRUE(choices_of(trial).empty());
  const auto next_trial = [&] {
    while (trial.state() != AbTrial::State::trying) { Steps(trial).run(10'000); }
  };
  run_trial(trial, {10'000, 9'000, 9'100, 0});
  next_trial();
  run_trial(trial, {10'000, 9'000, 9'100, 0});
  ASSERT_EQ(choices_of(trial).size(), 1U);
  EXPECT_EQ(choices_of(trial)[0].pattern, 7U);
  EXPECT_EQ(choices_of(trial)[0].arm, 1U);
  EXPECT_EQ(choices_of(trial)[0].decisions, 2U);
  EXPECT_NEAR(choices_of(trial)[0].finding.gain, 0.1, 1e-9);
  next_trial();
  run_trial(trial, {10'000, 11'000, 11'000, 0});
  EXPECT_EQ(choices_of(trial)[0].arm, 0U);
  EXPECT_EQ(choices_of(trial)[0].decisions, 1U) << "another arm begins anew";
  EXPECT_EQ(choices_of(trial)[0].finding.gain, 0.0);
}

}  // namespace
}  // namespace elbowroom::interposer
