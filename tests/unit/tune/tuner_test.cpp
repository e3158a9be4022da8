#include "elbowroom/tune/tuner.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "elbowroom/tune/verdict.hpp"

namespace elbowroom {
namespace {

OverlapPlan budget(std::int64_t blocks) {
  OverlapPlan plan;
  plan.comm_blocks = Blocks(blocks);
  return plan;
}

Candidate tuned(std::int64_t blocks) { return {Scheme::tuned, budget(blocks), {RoomMaking::smaller_collective}, std::nullopt}; }

std::vector<Candidate> seeds() { return {{Scheme::concurrent, {}, {RoomMaking::as_launched}, std::nullopt}, tuned(2), tuned(20)}; }

/// One block more or less, from 1 to 40.
std::vector<Candidate> one_step(const OverlapPlan& plan) {
  std::vector<Candidate> steps;
  const std::int64_t here = plan.comm_blocks ? plan.comm_blocks->count() : 24;
  for (const std::int64_t there : {here - 1, here + 1}) {
    if (there >= 1 && there <= 40) { steps.push_back(tuned(there)); }
  }
  return steps;
}

/// Least, 100 us, at 15 blocks; two plain streams take 140 us.
double true_time(const OverlapPlan& plan) {
  if (!plan.comm_blocks) { return 140; }
  const auto away = static_cast<double>(plan.comm_blocks->count() - 15);
  return 100 + away * away;
}

/// Runs a tuner to its end on the true times with noise of a standard deviation of `noise` of each.
Tuner run(Tuner tuner, double noise, std::uint64_t noise_seed = 1, Seconds each = Seconds(0.01)) {
  std::mt19937_64 random(noise_seed);
  std::normal_distribution<double> spread(1, noise);
  while (const auto asked = tuner.ask()) {
    tuner.tell(Microseconds(true_time(tuner.candidates()[*asked].candidate.plan) * (noise > 0 ? spread(random) : 1)), each);
  }
  return tuner;
}

TEST(Tuner, WalksToTheBestOfItsNeighbourhood) {
  const Tuner tuner = run(Tuner({}, seeds(), one_step), 0);
  ASSERT_TRUE(tuner.best());
  EXPECT_EQ(tuner.candidates()[*tuner.best()].candidate.plan, budget(15));
  EXPECT_EQ(tuner.ending(), TunerEnding::separated);
  // The seeds, the walk 19, 21, 18 ... 15 and the step beyond.
  EXPECT_EQ(tuner.candidates().size(), 3U + 7U);
}

// A plan that led and then cannot run any more, for want of memory say, must not be what is chosen.
TEST(Tuner, ForgetsTheTimesOfWhatIsRefusedLater) {
  Tuner tuner({}, seeds(), one_step);
  while (const auto asked = tuner.ask()) {
    const MeasuredCandidate& measured = tuner.candidates()[*asked];
    if (measured.candidate.plan == budget(15) && measured.times.size() == 2) {
      tuner.refuse("out of memory", Seconds(0.01));
    } else {
      tuner.tell(Microseconds(true_time(measured.candidate.plan)), Seconds(0.01));
    }
  }
  // The next best are 14 and 16 blocks, 101 us each.
  ASSERT_TRUE(tuner.choice());
  EXPECT_EQ(true_time(tuner.candidates()[*tuner.choice()].candidate.plan), 101);
}

// 20 blocks take 100, and 130 us every third time, 2 blocks always 102: the one has the lower median, the other never ends higher.
TEST(Tuner, KnowsTheSteadiestBesideItsChoice) {
  TunerOptions options;
  options.most_candidates = 3;
  Tuner tuner(options, seeds(), one_step);
  int turn = 0;
  while (const auto asked = tuner.ask()) {
    const OverlapPlan& plan = tuner.candidates()[*asked].candidate.plan;
    const double time = plan == budget(20) ? (turn++ % 3 == 1 ? 130 : 100) : plan == budget(2) ? 102 : 140;
    tuner.tell(Microseconds(time), Seconds(0.01));
  }
  EXPECT_EQ(tuner.candidates()[*tuner.choice()].candidate, tuned(20));
  ASSERT_TRUE(tuner.steadiest());
  EXPECT_EQ(tuner.candidates()[*tuner.steadiest()].candidate, tuned(2));
}

TEST(Tuner, NamesNoSteadiestWhereThatIsTheChoice) {
  const Tuner tuner = run(Tuner({}, seeds(), one_step), 0);
  EXPECT_EQ(tuner.steadiest(), std::nullopt);
}

TEST(Tuner, MeasuresNoMoreCandidatesThanItMay) {
  TunerOptions options;
  options.most_candidates = 5;
  const Tuner tuner = run(Tuner(options, seeds(), one_step), 0.02);
  EXPECT_EQ(tuner.candidates().size(), 5U);
  EXPECT_NE(tuner.ending(), TunerEnding::running);
}

TEST(Tuner, StopsWithinOneTrialOfItsBudget) {
  TunerOptions options;
  options.time_limit = Seconds(1);
  const Tuner tuner = run(Tuner(options, seeds(), one_step), 0.02, 1, Seconds(0.3));
  EXPECT_EQ(tuner.ending(), TunerEnding::out_of_time);
  EXPECT_EQ(tuner.trials(), 4);  // 0.3 x 4 is the first that is not below 1
  EXPECT_TRUE(tuner.best());
}

TEST(Tuner, AnswersEvenWithoutTime) {
  TunerOptions options;
  options.time_limit = Seconds(0);
  const Tuner tuner = run(Tuner(options, seeds(), one_step), 0);
  EXPECT_EQ(tuner.trials(), 1);
  EXPECT_TRUE(tuner.best());
}

TEST(Tuner, AskingIsNoStep) {
  Tuner tuner({}, seeds(), one_step);
  const auto asked = tuner.ask();
  EXPECT_EQ(tuner.ask(), asked);
}

TEST(Tuner, GoesOnWithoutWhatIsRefused) {
  Tuner tuner({}, seeds(), one_step);
  while (const auto asked = tuner.ask()) {
    const OverlapPlan& plan = tuner.candidates()[*asked].candidate.plan;
    if (plan == budget(2)) {
      tuner.refuse("cannot run here", Seconds(0));
    } else {
      tuner.tell(Microseconds(true_time(plan)), Seconds(0));
    }
  }
  EXPECT_EQ(tuner.candidates()[*tuner.best()].candidate.plan, budget(15));  // from 20 downward
  EXPECT_EQ(tuner.candidates()[1].dropped, "cannot run here");
  EXPECT_TRUE(tuner.candidates()[1].times.empty());
}

TEST(Tuner, EndsWhenEverythingIsRefused) {
  Tuner tuner({}, seeds(), one_step);
  int refused = 0;
  while (tuner.ask()) {
    tuner.refuse("no", Seconds(0));
    ASSERT_LE(++refused, 3);
  }
  EXPECT_FALSE(tuner.best());
}

TEST(Tuner, EquallyGoodOnesAreNotMeasuredForever) {
  Tuner tuner({}, seeds(), [](const OverlapPlan&) { return std::vector<Candidate>(); });
  while (tuner.ask()) { tuner.tell(Microseconds(100), Seconds(0)); }
  EXPECT_EQ(tuner.ending(), TunerEnding::inseparable);
  EXPECT_EQ(tuner.trials(), 3 * 6);  // six each tell that they are the same
}

/// The end of a search among no overlap, a plan of two controls and a plan of one of them, which always take these times.
Tuner run_three(const std::array<double, 3>& times) {
  OverlapPlan more = budget(2);
  more.priority = true;
  const std::vector<Candidate> three{{Scheme::sequential, {}, {RoomMaking::no_overlap}, std::nullopt},
                                     {Scheme::tuned, more, {RoomMaking::smaller_collective}, std::nullopt},
                                     tuned(2)};
  Tuner tuner({}, three, [](const OverlapPlan&) { return std::vector<Candidate>(); });
  while (const auto asked = tuner.ask()) { tuner.tell(Microseconds(times[*asked]), Seconds(0)); }
  return tuner;
}

TEST(Tuner, OfEquallyGoodOnesTheOneWithTheFewestControlsIsTheChoice) {
  const Tuner tuner = run_three({140, 99.9, 100});  // 0.1 % apart
  EXPECT_EQ(tuner.best(), 1U);
  EXPECT_EQ(tuner.choice(), 2U);
}

// 0.1 % of a step, and a fourth of the 0.4 % that overlap saves at all.
TEST(Tuner, WhatHidesLessOfALittleIsNotEquallyGood) {
  const Tuner tuner = run_three({100, 99.6, 99.7});
  EXPECT_EQ(tuner.best(), 1U);
  EXPECT_EQ(tuner.choice(), 1U);
}

TEST(Tuner, TrialsOfARoundAreInterleaved) {
  Tuner tuner({}, seeds(), one_step);
  std::map<std::size_t, int> asked;
  for (int trial = 0; trial < 9; ++trial) {
    ++asked[*tuner.ask()];
    for (const auto& [candidate, count] : asked) { EXPECT_LE(count, trial / 3 + 1) << candidate; }
    tuner.tell(Microseconds(100 + trial % 2), Seconds(0));
  }
}

// Newcomers are compared with a time of the same minute: the best so far is measured again beside them.
TEST(Tuner, TheBestSoFarRunsAlongWithNewcomers) {
  Tuner tuner({}, seeds(), one_step);
  const auto run_while = [&](std::size_t candidates) {
    for (auto asked = tuner.ask(); asked && tuner.candidates().size() == candidates; asked = tuner.ask()) {
      tuner.tell(Microseconds(true_time(tuner.candidates()[*asked].candidate.plan)), Seconds(0));
    }
  };
  run_while(3);
  // 20 blocks lead, and 19 and 21 are to be tried.
  ASSERT_EQ(5U, tuner.candidates().size());
  const std::size_t before = tuner.candidates()[2].times.size();
  run_while(5);
  ASSERT_LT(5U, tuner.candidates().size());
  EXPECT_LT(before, tuner.candidates()[2].times.size());
}

TEST(TunerState, RefusesWhatIsNotItsOwn) {
  const Tuner tuner({}, seeds(), one_step);
  const std::string state = tuner.state("case");
  const auto refusal = [&](const std::string& text, const char* subject, std::uint64_t seed = 1) {
    TunerOptions options;
    options.seed = seed;
    const Result<Tuner> resumed = Tuner::resume(options, one_step, text, subject, "file");
    return resumed ? std::string("accepted") : resumed.error().message;
  };
  EXPECT_EQ(refusal(state, "case"), "accepted");
  EXPECT_EQ(refusal(state, "other"), "file: subject: \"case\", expected the case that is being tuned");
  EXPECT_EQ(refusal(state, "case", 2), "file: seed: another, expected 2");
  EXPECT_EQ(refusal(state.substr(0, state.size() / 2), "case").rfind("file: not valid JSON", 0), 0U);
  EXPECT_EQ(refusal("{}", "case"), "file: schema: missing, expected elbowroom.tuning/1");
  std::string wrong = state;
  wrong.replace(wrong.find("\"queue\""), 7, "\"tail\" ");
  EXPECT_NE(refusal(wrong, "case"), "accepted");
}

RC_GTEST_PROP(TunerProperty, AResumedSearchAsksTheSameQuestions, (std::uint64_t noise_seed)) {
  const int interrupted_after = *rc::gen::inRange(1, 60);
  Tuner whole({}, seeds(), one_step);
  std::mt19937_64 random(noise_seed);
  std::normal_distribution<double> spread(1, 0.03);
  for (int trial = 0; trial < 400; ++trial) {
    if (trial == interrupted_after && whole.ask()) {
      Result<Tuner> resumed = Tuner::resume({}, one_step, whole.state("case"), "case", "file");
      RC_ASSERT(resumed.ok());
      const Tuner kept = run(whole, 0.02, noise_seed);
      const Tuner again = run(std::move(*resumed), 0.02, noise_seed);
      RC_ASSERT(kept.trials() == again.trials());
      RC_ASSERT(kept.best() == again.best());
      RC_ASSERT(kept.state("case") == again.state("case"));
      return;
    }
    const auto asked = whole.ask();
    if (!asked) { return; }
    whole.tell(Microseconds(true_time(whole.candidates()[*asked].candidate.plan) * std::abs(spread(random))), Seconds(0.01));
  }
}

RC_GTEST_PROP(TunerProperty, ReturnsOnlyWhatItMeasuredAndKeepsItsLimits, (std::uint64_t noise_seed)) {
  TunerOptions options;
  options.seed = noise_seed;
  options.most_candidates = *rc::gen::inRange(1, 30);
  options.time_limit = Seconds(*rc::gen::inRange(1, 100) * 0.1);
  const double each = *rc::gen::inRange(1, 50) * 0.01;
  const Tuner tuner = run(Tuner(options, seeds(), one_step), 0.05, noise_seed, Seconds(each));
  RC_ASSERT(tuner.best().has_value());
  RC_ASSERT(!tuner.candidates()[*tuner.best()].times.empty());
  RC_ASSERT(static_cast<int>(tuner.candidates().size()) <= options.most_candidates);
  // The baselines are run once each, whatever the time limit.
  const auto plain = [](const MeasuredCandidate& measured) {
    const Scheme scheme = measured.candidate.scheme;
    return scheme == Scheme::sequential || scheme == Scheme::concurrent || scheme == Scheme::priority;
  };
  const auto count = std::ranges::count_if(tuner.candidates(), plain);
  RC_ASSERT(tuner.spent() < options.time_limit + Seconds(each * static_cast<double>(count + 1)));
  RC_ASSERT(std::ranges::none_of(tuner.candidates(), [&](const auto& each_of) { return plain(each_of) && each_of.times.empty(); }));
  for (const MeasuredCandidate& measured : tuner.candidates()) {
    RC_ASSERT(static_cast<int>(measured.times.size()) <= options.most_trials);
  }
}

// Whatever the noise says: the winner is stored exactly when its interval lies below one and it saves enough.
RC_GTEST_PROP(TunerProperty, WhatIsStoredIsWhatTheFreshRoundsSay, (std::uint64_t noise_seed)) {
  // Nothing here is better than the baseline by more than its noise.
  const auto time_of = [](const Candidate& candidate) { return candidate.scheme == Scheme::concurrent ? 100.0 : 100.5; };
  Tuner tuner({}, seeds(), one_step);
  std::mt19937_64 random(noise_seed);
  std::normal_distribution<double> spread(1, 0.03);
  while (const auto asked = tuner.ask()) {
    tuner.tell(Microseconds(time_of(tuner.candidates()[*asked].candidate) * spread(random)), Seconds(0.01));
  }
  const Candidate winner = tuner.candidates()[*tuner.best()].candidate;
  const Candidate plain = seeds().front();
  std::vector<Microseconds> winner_times;
  std::vector<Microseconds> plain_times;
  for (int round = 0; round < 12; ++round) {
    winner_times.emplace_back(time_of(winner) * spread(random));
    plain_times.emplace_back(time_of(plain) * spread(random));
  }
  const Result<Verdict> verdict = confirm(std::vector<Finalist>{{winner, winner_times}}, {plain, plain_times}, 1);
  RC_ASSERT(verdict.ok());
  RC_ASSERT((verdict->chosen == winner) ==
            ((verdict->ratio.high < 1 && verdict->ratio.median <= 1 - kLeastGain) || winner == plain));
}

}  // namespace
}  // namespace elbowroom
