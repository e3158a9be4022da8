#include <gtest/gtest.h>

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

}  // namespace
}  // namespace elbowroom::interposer
