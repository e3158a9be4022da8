#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fake_platform.hpp"

namespace elbowroom::interposer {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TEST(CoreTrial, ComparesStepsAndKeepsWhatHelps) {
  for (const bool gate_helps : {true, false}) {
    Program program(rules_of(Policy::automatic));
    program.teach(kAllReduce, kCommStream, kMs);
    bool gated = false;
    // A step of ten collectives, each beside a kernel; gated ones take the step to 8 ms (or 12 ms) instead of 10.
    for (int i = 0; i < 10 * 300; ++i) {
      const Decision collective = program.launch(kAllReduce, kCommStream);
      const Decision compute = program.launch(kGemm, kComputeStream);
      gated = compute.wait_on != kNoEvent;
      EXPECT_EQ(gated, collective.completion_event != kNoEvent);
      const std::uint64_t in_gated_step = gate_helps ? 800'000 : 1'200'000;
      program.now_ns += gated ? in_gated_step : 1'000'000;
      program.synchronize(kCommStream);
      program.synchronize(kComputeStream);
    }
    EXPECT_EQ(gated, gate_helps);
    EXPECT_NE(program.report().find(R"("ab":{"state":"settled")"), std::string::npos) << program.report();
  }
}

/// What a rank does with each of its collectives (bit 0: priority, bit 1: completion event), when its steps take `times` in turn.
std::vector<int> controls_of_rank(const std::vector<std::uint64_t>& times) {
  Program rank(rules_of(Policy::automatic));
  std::vector<int> controls;
  for (std::size_t i = 0; i < 2'700; ++i) {
    const Decision decision = rank.launch(i % 6 == 5 ? kAllGather : kAllReduce, kCommStream);
    rank.launch(kGemm, kComputeStream);
    controls.push_back((decision.priority ? 1 : 0) + (decision.completion_event != kNoEvent ? 2 : 0));
    rank.now_ns += times[i % times.size()];
  }
  return controls;
}

TEST(CoreTrial, ChangesControlsAtTheSameCollectiveOnEveryRank) {
  const std::vector<int> first = controls_of_rank({1 * kMs});
  const std::vector<int> second = controls_of_rank({2 * kMs, 3 * kMs, 9 * kMs});
  // Found after 24 collectives; steps of 6 collectives, of which no arm is dropped before the 36th; nothing gains on either rank.
  const auto before_a_look = [](const std::vector<int>& rank) {
    return std::vector<int>(rank.begin(), rank.begin() + 24 + 35 * 6);
  };
  EXPECT_EQ(before_a_look(first), before_a_look(second));
  for (const int arm : {0, 1, 3}) { EXPECT_NE(std::find(first.begin(), first.end(), arm), first.end()) << arm; }
  EXPECT_EQ(first.back(), 0);
  EXPECT_EQ(second.back(), 0);
}

TEST(CoreTrial, IsLeftOutWhenAskedTo) {
  Rules rules = rules_of(Policy::automatic);
  rules.trial = false;
  Program program(rules);
  const Decision collective = program.launch(kAllReduce, kCommStream);
  EXPECT_TRUE(collective.priority);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, collective.completion_event);
}

TEST(CoreTrial, LeavesTheProgramAsItIsWhereNothingRepeats) {
  Program program(rules_of(Policy::automatic));
  for (std::uint32_t i = 0; i < 3'000; ++i) {
    LaunchFacts facts = program.facts(kAllReduce, kCommStream);
    facts.grid.x = 1 + i;  // each of its own kind
    const Decision collective = program.launch(facts);
    EXPECT_FALSE(collective.priority);
    EXPECT_EQ(collective.completion_event, kNoEvent);
  }
}

}  // namespace
}  // namespace elbowroom::interposer
