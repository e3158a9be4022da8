#include <gtest/gtest.h>

#include "fake_platform.hpp"
#include "milliseconds.hpp"

namespace elbowroom::interposer {
namespace {

constexpr unsigned kLatency = 12;  // collectives from a wish to its begin

// What the room of NCCL would be: one rank leads, and the others agree to all that it wants.
struct Ranks {
  RankStanding standing;
  RankWish wish;
  unsigned since = 0;
};
Ranks agreed;

RankAgreement agreement() {
  agreed = {};
  return {.standing = [] { return agreed.standing; },
          .want =
              [](const RankWish& wish) {
                if (wish.value != agreed.wish.value) { agreed.since = 0; }
                agreed.wish = wish;
              }};
}

unsigned ask() {
  if (++agreed.since >= kLatency) { agreed.standing.agreed = agreed.wish.value; }
  const unsigned blocks = agreed.standing.agreed & kBudgetBlocks;
  ++agreed.standing.asked;
  agreed.standing.as_wanted += agreed.standing.agreed == agreed.wish.value ? 1 : 0;
  agreed.standing.all_ready += agreed.wish.ready != 0 ? 1 : 0;
  agreed.standing.lowered += blocks != 0 ? 1 : 0;
  return blocks;
}

/// All-reduces, each beside a product; a fifth faster with 8 blocks. `asks`: NCCL asks about them.
struct Counts {
  int compared = 0;          ///< products launched while a budget was compared
  int compared_at_rest = 0;  ///< of these, those that were left alone
  unsigned least_blocks = 24;
};
Counts run(Program& program, int collectives, bool asks = true) {
  Counts counts;
  for (int i = 0; i < collectives; ++i) {
    const unsigned blocks = asks ? ask() : 0;
    LaunchFacts facts = program.facts(kAllReduce, kCommStream);
    facts.note = {
        .communicator = 1, .bytes = 1'000, .ranks = 2, .library = 22'809, .asked = asks, .own_blocks = asks && blocks == 0};
    facts.grid.x = blocks == 0 ? 24 : blocks;
    counts.least_blocks = std::min(counts.least_blocks, facts.grid.x);
    const Decision decision = program.launch(facts);
    EXPECT_TRUE(decision.step == 0 || decision.context == kContext) << "no event could be recorded for the step";
    const bool compares = blocks != 0 && (agreed.standing.agreed & kBudgetKept) == 0;
    const bool rests = program.core->leaves_alone(kGemm);
    if (!rests) { program.launch(kGemm, kComputeStream); }
    counts.compared += compares ? 1 : 0;
    counts.compared_at_rest += compares && rests ? 1 : 0;
    program.now_ns += blocks == 8 ? 800'000 : kMs;
    program.synchronize(kCommStream);
    program.synchronize(kComputeStream);
  }
  return counts;
}

// The grid is another with each arm, and the step is found all the same.
TEST(CoreBudget, IsComparedWhenTheOtherControlsAreSettledAndAtRest) {
  Program program(rules_of(Policy::automatic), agreement());
  const Counts counts = run(program, 6 * 600);
  EXPECT_EQ(agreed.standing.agreed & (kBudgetBlocks | kBudgetKept), 8U | kBudgetKept);
  EXPECT_EQ(counts.least_blocks, 8U);
  EXPECT_GT(counts.compared, 6 * 30);
  EXPECT_GE(counts.compared_at_rest, counts.compared - 6) << "what is compared costs no launch anything";
  const std::string report = program.report();
  EXPECT_NE(report.find(R"("ab":{"state":"settled","arm":"plain","collectives_per_repetition":1,"decisions":1)"), std::string::npos)
      << report;
  EXPECT_NE(report.find(R"("arm":"budget 8","gain_percent":20.)"), std::string::npos) << report;
  EXPECT_NE(report.find(R"("decides":"this process","blocks":8,"decisions":1)"), std::string::npos) << report;
}

TEST(CoreBudget, IsNotComparedWhereNobodyAsksOrARuleHasOne) {
  Program unasked(rules_of(Policy::automatic), agreement());
  EXPECT_EQ(run(unasked, 6 * 300, false).least_blocks, 24U);
  EXPECT_NE(unasked.report().find(R"("reason":"NCCL asked about no collective")"), std::string::npos);
  Rules fixed = rules_of(Policy::automatic);
  ASSERT_TRUE(fixed.set_budgets({.blocks = {8}, .count = 1, .every = 0}));
  Program ruled(fixed, agreement());
  EXPECT_EQ(run(ruled, 6 * 300).least_blocks, 24U) << "the room of NCCL follows the rule";
  Program gated(rules_of(Policy::gate), agreement());
  EXPECT_EQ(run(gated, 6 * 300).least_blocks, 24U);
}

TEST(CoreBudget, IsInForceEarlyWhereAnEarlierRunKeptIt) {
  Program first(rules_of(Policy::automatic), agreement());
  run(first, 6 * 600);
  const std::string report = first.report();
  const std::string key = R"("choices":[{"sequence":")";
  const std::string sequence = report.substr(report.find(key) + key.size(), 16);
  Program second(rules_of(Policy::automatic), agreement());
  second.fake.choices = "device NVIDIA H200\n" + sequence + " 22809 budget 8\n";
  EXPECT_EQ(run(second, 24 + 6 * 6).least_blocks, 8U);
  EXPECT_EQ(agreed.standing.agreed & (kBudgetBlocks | kBudgetKept), 8U | kBudgetKept);
}

}  // namespace
}  // namespace elbowroom::interposer
