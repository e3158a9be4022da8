#include "interposer/core/budget_arms.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

#include "milliseconds.hpp"

namespace elbowroom::interposer {
namespace {

constexpr std::uint64_t kPattern = 7;

/// A process whose ranks ask about ten collectives a step; what is wanted is in force `latency` collectives later.
struct Process {
  BudgetArms arms;
  RankStanding standing;
  BudgetArms::StepFacts facts{.step = 0, .settled = true, .beside = true};
  bool ready = true;
  bool agrees = true;
  unsigned latency = 8;
  std::uint32_t wanted = 0;
  unsigned since = 0;
  std::set<unsigned> seen;

  explicit Process(std::uint64_t most = 24) {
    arms.begin(true);
    arms.on_own_blocks(most);
    arms.on_pattern(kPattern, std::nullopt);
  }
  /// One step, with its time by the blocks in force at its end.
  template <class Time>
  void step(Time time) {
    ++facts.step;
    arms.on_step_begun(facts, standing);
    for (int i = 0; i < 10; ++i) { collective(); }
    const unsigned blocks = standing.agreed & kBudgetBlocks;
    seen.insert(blocks);
    arms.on_step_time(facts.step, static_cast<std::uint64_t>(time(blocks) * kMs));
  }
  void collective() {
    const std::uint32_t wish = arms.value();
    since = wish == wanted ? since + 1 : 0;
    wanted = wish;
    if (agrees && since >= latency) { standing.agreed = wanted; }
    ++standing.asked;
    standing.as_wanted += standing.agreed == wanted ? 1 : 0;
    standing.all_ready += ready && facts.settled ? 1 : 0;
    standing.lowered += (standing.agreed & kBudgetBlocks) != 0 ? 1 : 0;
  }
  template <class Time>
  void run(int steps, Time time) {
    for (int i = 0; i < steps; ++i) { step(time); }
  }
  [[nodiscard]] unsigned kept() const { return arms.kept(kPattern).value_or(BudgetArms::Kept{255, {}, 0}).blocks; }
};

double equal(unsigned) { return 10; }
double eight_is_best(unsigned blocks) { return blocks == 8 ? 9 : 10; }

// 10 ms with the library's own number, 9 with 8 blocks: a tenth. Of 16, 8 and 4 the first two are tried.
TEST(BudgetArms, KeepsTheBudgetThatIsProvenFaster) {
  Process process;
  process.run(600, eight_is_best);
  EXPECT_EQ(process.kept(), 8U);
  EXPECT_EQ(process.standing.agreed, 8U | kBudgetKept);
  EXPECT_NEAR(process.arms.kept(kPattern)->finding.gain, 0.1, 1e-6);
  EXPECT_EQ(process.seen, (std::set<unsigned>{0, 8, 16}));
}

TEST(BudgetArms, KeepsTheLibrarysNumberWhereNothingGains) {
  Process process;
  process.run(600, equal);
  EXPECT_EQ(process.kept(), 0U);
  EXPECT_EQ(process.standing.agreed, kBudgetKept) << "the others are told that it was settled";
}

// A step counts when its arm was in force from begin to end. The time of every other step is that of a step twice as long.
TEST(BudgetArms, CountsStepsInForceAlone) {
  Process process;
  process.latency = 25;  // two steps and a half
  std::uint32_t before = 0;
  const auto time = [&](unsigned blocks) {
    const bool changing = process.standing.agreed != process.wanted || process.standing.agreed != before;
    before = process.standing.agreed;
    return changing ? 100.0 : eight_is_best(blocks);
  };
  process.run(900, time);
  EXPECT_EQ(process.kept(), 8U);
  EXPECT_EQ(process.arms.trial().step_time(2), 9 * kMs) << "a step of 100 ms was counted";
  EXPECT_EQ(process.arms.trial().step_time(0), 10 * kMs);
}

TEST(BudgetArms, TriesWhatIsBelowTheLibrarysNumber) {
  const std::array<std::pair<std::uint64_t, std::set<unsigned>>, 4> expected{
      {{32, {0, 8, 16}}, {16, {0, 4, 8}}, {8, {0, 4}}, {4, {0}}}};
  for (const auto& [most, tried] : expected) {
    Process process(most);
    process.run(300, equal);
    EXPECT_EQ(process.seen, tried) << most;
    EXPECT_EQ(process.arms.reason(), most == 4 ? BudgetArms::Reason::few_blocks : BudgetArms::Reason::none);
  }
}

// An arm that lowers nothing is dropped after its first round, and nothing is kept.
TEST(BudgetArms, DropsWhatActsOnNothing) {
  Process process;
  int steps_with_budget = 0;
  for (int i = 0; i < 300; ++i) {
    process.step(eight_is_best);
    process.standing.lowered = 0;
    steps_with_budget += (process.standing.agreed & kBudgetBlocks) != 0 ? 1 : 0;
  }
  EXPECT_EQ(process.kept(), 0U);
  EXPECT_LT(steps_with_budget, 30);
}

TEST(BudgetArms, ComparesNothingBeforeAllAreReady) {
  Process process;
  process.ready = false;
  process.run(300, eight_is_best);
  EXPECT_EQ(process.seen, std::set<unsigned>{0});
  EXPECT_EQ(process.arms.reason(), BudgetArms::Reason::others_differ);
  process.ready = true;
  process.run(600, eight_is_best);
  EXPECT_EQ(process.kept(), 8U);
}

TEST(BudgetArms, ComparesNothingWhereItWouldBeOfNoUse) {
  Process alone;
  alone.facts.beside = false;
  alone.run(300, eight_is_best);
  EXPECT_EQ(alone.seen, std::set<unsigned>{0});
  EXPECT_EQ(alone.arms.reason(), BudgetArms::Reason::nothing_beside);
  Process own;  // its own controls are being compared
  own.facts.settled = false;
  own.run(300, eight_is_best);
  EXPECT_EQ(own.seen, std::set<unsigned>{0});
  Process unasked;
  for (int i = 0; i < 300; ++i) { unasked.arms.on_step_begun(unasked.facts, {}); }
  EXPECT_EQ(unasked.arms.reason(), BudgetArms::Reason::nothing_asked);
}

// A graph's collectives were asked about once, when it was captured.
TEST(BudgetArms, SaysThatNothingIsAskedAnyMore) {
  Process captured;
  captured.ready = false;
  captured.step(equal);
  captured.step(equal);
  ASSERT_EQ(captured.arms.reason(), BudgetArms::Reason::others_differ);
  captured.arms.on_step_begun(captured.facts, captured.standing);
  captured.arms.on_step_begun(captured.facts, captured.standing);
  EXPECT_EQ(captured.arms.reason(), BudgetArms::Reason::nothing_asked);
}

// A rank stops to be ready in the middle: the library's number comes back, and the comparison goes on later.
TEST(BudgetArms, PausesWhereARankIsNotReady) {
  Process process;
  process.run(60, eight_is_best);
  EXPECT_TRUE(process.arms.trying());
  process.ready = false;
  process.run(3, eight_is_best);
  EXPECT_FALSE(process.arms.trying());
  process.seen.clear();
  process.run(20, eight_is_best);
  EXPECT_EQ(process.seen, std::set<unsigned>{0});
  process.ready = true;
  process.run(600, eight_is_best);
  EXPECT_EQ(process.kept(), 8U);
}

TEST(BudgetArms, GivesUpWhatIsNeverAgreed) {
  Process process;
  process.agrees = false;
  process.run(BudgetArms::kMostWaiting + 100, eight_is_best);
  EXPECT_EQ(process.arms.reason(), BudgetArms::Reason::not_agreed);
  EXPECT_EQ(process.arms.value(), 0U);
  EXPECT_FALSE(process.arms.trying());
}

TEST(BudgetArms, IsGoneWithItsRepetitionAndComesBackWithIt) {
  Process process;
  process.run(600, eight_is_best);
  process.arms.on_lost();
  EXPECT_EQ(process.arms.value(), 0U);
  EXPECT_EQ(process.kept(), 8U) << "the report's";
  process.arms.on_pattern(kPattern, std::nullopt);
  process.run(5, eight_is_best);
  EXPECT_EQ(process.standing.agreed, 8U | kBudgetKept);
}

TEST(BudgetArms, BeginsWithWhatAnEarlierRunKept) {
  Process process;
  process.facts.beside = false;  // it rests from the begin on, so that nobody looks
  process.arms.on_pattern(kPattern, std::uint8_t{8});
  process.run(5, eight_is_best);
  EXPECT_EQ(process.standing.agreed, 8U | kBudgetKept);
  Process slower;  // here it does not gain
  slower.arms.on_pattern(kPattern, std::uint8_t{8});
  slower.run(600, equal);
  EXPECT_EQ(slower.kept(), 0U);
}

TEST(BudgetArms, FollowsAnotherProcess) {
  Process process;
  process.standing.follows = true;
  process.standing.asked = 10;
  process.standing.agreed = 8 | mark_of(kPattern);
  process.arms.on_step_begun(process.facts, process.standing);
  EXPECT_FALSE(process.arms.kept(kPattern)) << "not settled";
  process.standing.asked = 20;
  process.standing.agreed = 8 | kBudgetKept | mark_of(kPattern);
  process.arms.on_step_begun(process.facts, process.standing);
  EXPECT_EQ(process.kept(), 8U);
  EXPECT_EQ(process.arms.kept(kPattern)->decisions, 1U) << "it saw blocks that were not kept yet";
  process.standing.asked = 30;
  process.arms.on_step_begun(process.facts, process.standing);
  EXPECT_EQ(process.arms.kept(kPattern)->decisions, 1U);
  EXPECT_EQ(process.arms.value(), 0U) << "it wants nothing";
  process.arms.on_lost();
  process.arms.on_pattern(kPattern + 1, std::nullopt);
  process.standing.asked = 40;
  process.arms.on_step_begun(process.facts, process.standing);
  EXPECT_FALSE(process.arms.kept(kPattern + 1)) << "what is in force is of the repetition before";
}

// Whatever the others do, in which order: a value that is wanted is one of the arms, and nothing is wanted without a repetition.
RC_GTEST_PROP(BudgetArms, WantsOneOfItsArms, ()) {
  Process process(*rc::gen::inRange<std::uint64_t>(0, 40));
  const auto moves = *rc::gen::container<std::vector<int>>(200, rc::gen::inRange(0, 12));
  bool known = true;
  for (const int move : moves) {
    if (move == 0) {
      process.arms.on_lost();
      known = false;
    }
    if (move == 1) {
      process.arms.on_pattern(kPattern, std::nullopt);
      known = true;
    }
    if (move == 2) { process.ready = !process.ready; }
    if (move == 3) { process.agrees = !process.agrees; }
    if (move == 4) { process.facts.settled = !process.facts.settled; }
    if (known) { process.run(5, eight_is_best); }
    const unsigned blocks = process.arms.value() & kBudgetBlocks;
    RC_ASSERT(blocks == 0 || blocks == 4 || blocks == 8 || blocks == 16);
    RC_ASSERT(known || process.arms.value() == 0);
  }
}

}  // namespace
}  // namespace elbowroom::interposer
