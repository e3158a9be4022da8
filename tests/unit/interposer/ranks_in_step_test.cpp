#include "interposer/core/ranks_in_step.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace elbowroom::interposer {
namespace {

constexpr std::uint64_t kPattern = 7;
constexpr std::uint64_t kArmsHash = 3;
using Mode = RanksInStep::Mode;
using Reason = RanksInStep::Reason;

std::uint32_t shared_arm(unsigned arm, std::uint32_t more = 0, std::uint64_t pattern = kPattern) {
  return kArmShared | arm << kArmAt | more | mark_of(pattern);
}

/// A process whose library asks about ten collectives a step.
struct Process {
  RanksInStep ranks;
  RankStanding standing{.with_processes = true};
  bool ready = true;
  bool as_wanted = true;

  explicit Process(bool follows = false, bool possible = true) {
    standing.follows = follows;
    ranks.begin(possible, kArmsHash);
    pass();
    ranks.on_pattern(kPattern, standing);
    step();
  }
  void pass() {
    standing.asked += 10;
    standing.all_ready += ready ? 10 : 9;
    standing.as_wanted += as_wanted ? 10 : 9;
  }
  void step(unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) {
      pass();
      ranks.on_step_begun(standing);
    }
  }
  /// The repetition is lost and found again; the first step of it does not count.
  void break_off() {
    ranks.on_lost();
    pass();
    ranks.on_pattern(kPattern, standing);
    step();
  }
};

TEST(RanksInStep, DecidesWhenAllAreReadyAndCountsWhatAllHave) {
  Process process;
  process.ready = false;
  process.step(5);
  EXPECT_EQ(process.ranks.mode(), Mode::asks);
  EXPECT_FALSE(process.ranks.chooses());
  EXPECT_EQ(process.ranks.value(1, false), 0U);
  process.ready = true;
  process.step();
  EXPECT_EQ(process.ranks.mode(), Mode::decides);
  EXPECT_FALSE(process.ranks.counts()) << "what it wants is not in force yet";
  EXPECT_EQ(process.ranks.value(2, true), kArmShared | kArmKept | 2U << kArmAt);
  process.as_wanted = false;
  process.step();
  EXPECT_FALSE(process.ranks.counts());
  process.as_wanted = true;
  process.step();
  EXPECT_TRUE(process.ranks.counts());
  process.ready = false;
  process.step();
  EXPECT_EQ(process.ranks.mode(), Mode::asks) << "a rank does something else";
}

TEST(RanksInStep, IsReadyForTheSameOnlyWithTheSameArms) {
  const Process process;
  RanksInStep other;
  other.begin(true, kArmsHash + 1);
  other.on_pattern(kPattern, process.standing);
  EXPECT_NE(process.ranks.ready(), 0U);
  EXPECT_NE(process.ranks.ready(), other.ready());
  EXPECT_EQ(Process(false, false).ranks.ready(), 0U) << "who chooses alone";
}

TEST(RanksInStep, FollowsFromTheCollectiveOnThatAllAgreedTo) {
  Process process(true);
  EXPECT_EQ(process.ranks.mode(), Mode::asks);
  EXPECT_EQ(process.ranks.arm(shared_arm(2)), 2U) << "before the step in which it begins to follow is over";
  EXPECT_EQ(process.ranks.arm(shared_arm(2, 0, kPattern + 1)), 0U) << "another repetition's";
  EXPECT_EQ(process.ranks.arm(mark_of(kPattern)), 0U) << "nothing is shared";
  process.standing.agreed = shared_arm(1);
  process.step();
  EXPECT_EQ(process.ranks.mode(), Mode::follows);
  EXPECT_FALSE(process.ranks.chooses() || process.ranks.kept());
  EXPECT_FALSE(process.ranks.followed());
  process.standing.agreed = shared_arm(2, kArmKept);
  process.step(3);
  EXPECT_TRUE(process.ranks.kept());
  EXPECT_EQ(process.ranks.followed()->arm, 2U);
  EXPECT_EQ(process.ranks.followed()->decisions, 1U);
  process.ranks.on_lost();
  EXPECT_EQ(process.ranks.arm(shared_arm(2, kArmKept)), 0U);
  EXPECT_EQ(process.ranks.ready(), 0U);
}

// All at the same step, so that they compare together. At once when the same repetition comes again.
TEST(RanksInStep, ChoosesAloneWhereTheOthersNeverCome) {
  for (const bool follows : {false, true}) {
    Process process(follows);
    process.ready = false;
    process.ranks.on_lost();
    process.pass();
    process.ranks.on_pattern(kPattern + 1, process.standing);
    process.step(64);  // the first of them does not count: it began before the repetition was found
    EXPECT_EQ(process.ranks.mode(), Mode::asks);
    process.step();
    EXPECT_EQ(process.ranks.mode(), Mode::alone);
    EXPECT_EQ(process.ranks.reason(), Reason::others_differ);
    EXPECT_TRUE(process.ranks.chooses() && process.ranks.counts());
    EXPECT_EQ(process.ranks.arm(shared_arm(1, 0, kPattern + 1)), 0U);
    process.ranks.on_lost();
    process.pass();
    process.ranks.on_pattern(kPattern + 1, process.standing);
    EXPECT_EQ(process.ranks.mode(), Mode::alone);
    EXPECT_EQ(process.ranks.reason(), Reason::others_differ);
  }
}

// A loss is logged every 21 steps, the first of which does not count. What the ranks waited for each other adds up: 20, 40, 60, and
// the fourth step after that is the 64th.
TEST(RanksInStep, ChoosesAloneHoweverOftenTheRepetitionBreaksOff) {
  for (const bool follows : {false, true}) {
    Process process(follows);
    process.ready = false;
    for (int stretch = 0; stretch < 3; ++stretch) {
      process.step(20);
      EXPECT_EQ(process.ranks.mode(), Mode::asks) << stretch;
      process.break_off();
    }
    process.step(3);
    EXPECT_EQ(process.ranks.mode(), Mode::asks);
    process.step();
    EXPECT_EQ(process.ranks.mode(), Mode::alone);
  }
}

TEST(RanksInStep, WaitsAnewOnceTheRanksHaveComeTogether) {
  Process process;
  process.ready = false;
  process.step(40);
  process.break_off();
  process.ready = true;
  process.step();
  ASSERT_EQ(process.ranks.mode(), Mode::decides);
  process.ready = false;
  process.break_off();
  process.step(63);
  EXPECT_EQ(process.ranks.mode(), Mode::asks);
  process.step();
  EXPECT_EQ(process.ranks.mode(), Mode::alone);
}

// Training and evaluation of a pipeline's stage take turns: each is asked about once, for 64 steps.
TEST(RanksInStep, RemembersSeveralRepetitionsOfUnlikeRanks) {
  Process process;
  process.ready = false;
  constexpr std::uint64_t kEvaluation = kPattern + 1;
  process.step(RanksInStep::kMostAsking);
  process.ranks.on_lost();
  process.pass();
  process.ranks.on_pattern(kEvaluation, process.standing);
  process.step();
  EXPECT_EQ(process.ranks.mode(), Mode::asks);
  process.step(RanksInStep::kMostAsking);
  for (const std::uint64_t pattern : {kPattern, kEvaluation, kPattern, kEvaluation}) {
    process.ranks.on_lost();
    process.pass();
    process.ranks.on_pattern(pattern, process.standing);
    EXPECT_EQ(process.ranks.mode(), Mode::alone) << pattern;
    EXPECT_EQ(process.ranks.reason(), Reason::others_differ);
    process.step();
    EXPECT_TRUE(process.ranks.chooses());
  }
}

TEST(RanksInStep, ChoosesAloneWhereThereIsNobodyToAgreeWith) {
  EXPECT_EQ(Process(false, false).ranks.reason(), Reason::no_ranks);
  RanksInStep ranks;
  ranks.begin(true, kArmsHash);
  ranks.on_pattern(kPattern, {.with_processes = true});
  EXPECT_EQ(ranks.reason(), Reason::no_ranks);
  ranks.begin(true, kArmsHash);
  ranks.on_pattern(kPattern, {.asked = 10});
  EXPECT_EQ(ranks.reason(), Reason::one_process);
  EXPECT_TRUE(ranks.chooses());
}

TEST(RanksInStep, GivesUpAnArmThatIsNeverAgreedOrOnlyTriedForEver) {
  Process decider;
  decider.step();
  decider.as_wanted = false;
  decider.step(RanksInStep::kMostWaiting - 1);
  EXPECT_EQ(decider.ranks.mode(), Mode::decides);
  decider.step();
  EXPECT_EQ(decider.ranks.reason(), Reason::not_agreed);
  Process follower(true);
  follower.standing.agreed = shared_arm(1);
  follower.step(RanksInStep::kMostWaiting);
  EXPECT_EQ(follower.ranks.mode(), Mode::follows);
  follower.step();
  EXPECT_EQ(follower.ranks.reason(), Reason::not_agreed) << "whoever decided is gone";
  Process patient(true);
  patient.standing.agreed = shared_arm(1, kArmKept);
  patient.step(2 * RanksInStep::kMostWaiting);
  EXPECT_EQ(patient.ranks.mode(), Mode::follows) << "what is kept stays";
}

// Whatever the others do, in which order: no arm without a repetition, and nothing is wanted of others by who does not decide.
RC_GTEST_PROP(RanksInStep, WantsNothingOfOthersUnlessItDecides, ()) {
  Process process(*rc::gen::arbitrary<bool>());
  bool known = true;
  for (const int move : *rc::gen::container<std::vector<int>>(100, rc::gen::inRange(0, 9))) {
    if (move == 0) {
      process.ranks.on_lost();
      known = false;
    }
    if (move == 1) {
      process.ranks.on_pattern(kPattern, process.standing);
      known = true;
    }
    if (move == 2) { process.ready = !process.ready; }
    if (move == 3) { process.as_wanted = !process.as_wanted; }
    if (move == 4) { process.standing.follows = !process.standing.follows; }
    if (move == 5) { process.standing.agreed = shared_arm(*rc::gen::inRange(0U, 4U), *rc::gen::element(0U, kArmKept)); }
    if (known) { process.step(*rc::gen::element(1U, 5U, 40U)); }
    const RanksInStep& ranks = process.ranks;
    RC_ASSERT(known || (ranks.arm(process.standing.agreed) == 0 && !ranks.chooses() && ranks.ready() == 0));
    RC_ASSERT((ranks.value(1, false) != 0) == (ranks.mode() == Mode::decides));
    RC_ASSERT(ranks.mode() != Mode::alone || ranks.reason() != Reason::none);
    RC_ASSERT(!ranks.counts() || ranks.chooses());
  }
}

}  // namespace
}  // namespace elbowroom::interposer
