#include <gtest/gtest.h>

#include <tuple>

#include "fake_platform.hpp"

// Collectives get priority where they leave an SM to what their peers may wait for. Others that go first count.

namespace elbowroom::interposer {
namespace {

// Of 132 SMs its 100 blocks and 31 others leave one, and 32 others none.
TEST(CorePriority, CountsTheBlocksThatTheProgramGavePriority) {
  for (const std::uint32_t others : {31U, 32U}) {
    Program program(rules_of(Policy::priority));
    LaunchFacts own = program.facts(kAllReduce, kCommStream);
    own.sets_priority = true;
    own.grid = {100, 1, 1};
    program.launch(own);
    LaunchFacts beside = program.facts(kAllReduce, kOtherComputeStream);
    beside.grid = {others, 1, 1};
    EXPECT_EQ(program.launch(beside).priority, others == 31);
  }
}

// The same by a priority of its stream.
TEST(CorePriority, CountsTheBlocksOfStreamsWithPriority) {
  for (const bool first : {false, true}) {
    Program program(rules_of(Policy::priority));
    program.fake.streams[kCommStream].first = first;
    LaunchFacts own = program.facts(kAllReduce, kCommStream);
    own.grid = {132, 1, 1};  // too many for a priority of ours
    program.launch(own);
    LaunchFacts beside = program.facts(kAllReduce, kOtherComputeStream);
    EXPECT_EQ(program.launch(beside).priority, !first);
  }
}

// How many blocks of a graph's collectives run at once there is not known.
TEST(CorePriority, CountsAGraphOnAStreamWithPriorityAsAllBlocks) {
  for (const bool first : {false, true}) {
    Program program(rules_of(Policy::priority));
    program.fake.streams[kCommStream].first = first;
    program.launch_graph(kCommStream, {1, 0, false, false});
    EXPECT_EQ(program.launch(kAllReduce, kOtherComputeStream).priority, !first);
  }
}

LaunchFacts of_blocks(const Program& program, StreamId stream, std::uint32_t blocks) {
  LaunchFacts facts = program.facts(kAllReduce, stream);
  facts.grid = {blocks, 1, 1};
  return facts;
}

// Groups have 8 SMs at least, so there are 132 / 8 = 16 at most. With 3 x 16 + 1 = 49 SMs left over, some group has 4: up to 83
// blocks.
TEST(CorePriority, LeavesAClusterItsSms) {
  for (const std::uint32_t blocks : {83U, 84U}) {
    Program program(rules_of(Policy::priority));
    LaunchFacts clusters = program.facts(kGemm, kComputeStream);
    clusters.cluster = 4;
    program.launch(clusters);
    EXPECT_EQ(program.launch(of_blocks(program, kCommStream, blocks)).priority, blocks == 83);
  }
}

// A collective that may begin before the one ahead of it ends holds SMs beside that one: 64 + 67 leave one of 132, 64 + 68 none.
TEST(CorePriority, CountsWhatAProgrammaticCollectiveStandsBehind) {
  for (const std::uint32_t blocks : {67U, 68U}) {
    Program program(rules_of(Policy::priority));
    program.launch(of_blocks(program, kCommStream, 64));
    LaunchFacts behind = of_blocks(program, kCommStream, blocks);
    behind.programmatic = true;
    EXPECT_EQ(program.launch(behind).priority, blocks == 67);
  }
}

// 40 and 40 of one stream may run at once: 51 of another one leave one of 132 SMs.
TEST(CorePriority, CountsAllThatMayRunOfOneStream) {
  for (const std::uint32_t blocks : {51U, 52U}) {
    Program program(rules_of(Policy::priority));
    program.launch(of_blocks(program, kCommStream, 40));
    LaunchFacts behind = of_blocks(program, kCommStream, 40);
    behind.programmatic = true;
    EXPECT_TRUE(program.launch(behind).priority);
    EXPECT_EQ(program.launch(of_blocks(program, kOtherComputeStream, blocks)).priority, blocks == 51);
  }
}

// A cooperative launch waits for its SMs as long as another collective has some, and so does what is launched behind it. 24 + 24
// and 84 blocks fit on 132 SMs at once, 24 + 24 and 85 do not. Where no other collective is there, none of its blocks waits for
// one.
TEST(CorePriority, GatesBesideACooperativeLaunchWhereAllFit) {
  for (const auto& [blocks, another, gated] : {std::tuple{84U, true, true}, {85U, true, false}, {132U, false, true}}) {
    Program program(rules_of(Policy::gate));
    LaunchFacts cooperative = program.facts(kGemm, kComputeStream);
    cooperative.grid = {blocks, 1, 1};
    cooperative.cooperative = true;
    if (another) { program.launch(kAllReduce, kOtherComputeStream); }
    program.launch(cooperative);
    program.launch(kAllReduce, kCommStream);
    EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on != kNoEvent, gated) << blocks;
  }
}

// So it is with clusters of 8, for which 7 x 16 + 1 = 113 SMs are left by one collective of 19 blocks, and not by two of 24.
TEST(CorePriority, GatesBesideClustersWhereAllFit) {
  for (const auto& [cluster, another, gated] : {std::tuple{4U, true, true}, {8U, true, false}, {8U, false, true}}) {
    Program program(rules_of(Policy::gate));
    LaunchFacts clusters = program.facts(kGemm, kComputeStream);
    clusters.cluster = cluster;
    if (another) { program.launch(kAllReduce, kOtherComputeStream); }
    program.launch(clusters);
    program.launch(kAllReduce, kCommStream);
    EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on != kNoEvent, gated) << cluster;
  }
}

}  // namespace
}  // namespace elbowroom::interposer
