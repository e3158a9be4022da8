#include <gtest/gtest.h>

#include "fake_platform.hpp"

// Collectives get priority where all that may run at once leave half of the SMs to what their peers may wait for.

namespace elbowroom::interposer {
namespace {

LaunchFacts of_blocks(const Program& program, StreamId stream, std::uint32_t blocks) {
  LaunchFacts facts = program.facts(kAllReduce, stream);
  facts.grid = {blocks, 1, 1};
  return facts;
}

TEST(CorePriority, LeavesHalfOfTheSms) {
  for (const std::uint32_t blocks : {66U, 67U}) {
    Program program(rules_of(Policy::priority));
    const Decision decision = program.launch(of_blocks(program, kCommStream, blocks));
    EXPECT_EQ(decision.priority, blocks == 66);
    EXPECT_EQ(decision.refusal, blocks == 66 ? Refusal::none : Refusal::fills_device);
  }
}

// 40 of another stream, of which the largest counts that may not have ended.
TEST(CorePriority, CountsTheCollectivesOfOtherStreams) {
  for (const std::uint32_t blocks : {26U, 27U}) {
    Program program(rules_of(Policy::priority));
    program.launch(of_blocks(program, kCommStream, 40));
    program.launch(of_blocks(program, kCommStream, 20));
    EXPECT_EQ(program.launch(of_blocks(program, kOtherComputeStream, blocks)).priority, blocks == 26);
    EXPECT_TRUE(program.launch(of_blocks(program, kCommStream, 20)).priority) << "40 + 26 at most are 66";
  }
}

TEST(CorePriority, CountsNothingThatHasEndedOrStandsBefore) {
  Program program(rules_of(Policy::gate));
  program.launch(of_blocks(program, kCommStream, 60));
  EXPECT_FALSE(program.launch(of_blocks(program, kOtherComputeStream, 24)).priority);
  program.finish(kOtherComputeStream);
  program.order(kCommStream, kOtherComputeStream);
  EXPECT_TRUE(program.launch(of_blocks(program, kOtherComputeStream, 24)).priority);
  program.finish(kOtherComputeStream);
  program.finish(kCommStream);
  EXPECT_TRUE(program.launch(of_blocks(program, kComputeStream, 24)).priority);
}

// How many blocks of a graph run at once is not known.
TEST(CorePriority, CountsAGraphAsAllBlocks) {
  Program program(rules_of(Policy::priority));
  program.launch_unknown(kCommStream);
  EXPECT_FALSE(program.launch(kAllReduce, kOtherComputeStream).priority);
}

// Neither a cooperative launch nor a large cluster finds room beside many blocks of high priority: for good there is none.
TEST(CorePriority, EndsWithALaunchThatNeedsManySmsAtOnce) {
  for (const std::uint32_t cluster : {1U, 4U, 8U}) {
    for (const bool cooperative : {false, true}) {
      Program program(rules_of(Policy::priority));
      LaunchFacts facts = program.facts(kGemm, kComputeStream);
      facts.cluster = cluster;
      facts.cooperative = cooperative;
      program.launch(facts);
      EXPECT_EQ(program.launch(kAllReduce, kCommStream).priority, !cooperative && cluster <= 4) << cluster;
    }
  }
}

}  // namespace
}  // namespace elbowroom::interposer
