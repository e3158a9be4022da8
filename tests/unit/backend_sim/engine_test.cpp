#include "backend_sim/engine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "small_machine.hpp"

namespace elbowroom::sim {
namespace {

TEST(Engine, WavesOfBlocksFollowEachOther) {
  // 6 blocks, 2 at a time: 3 x 10 us.
  const EngineRun result = run(machine(1), compute(6), comm(2), {compute_launch()});
  EXPECT_DOUBLE_EQ(result.end, 30);
  EXPECT_EQ(result.blocks, 6);
}

TEST(Engine, BlocksGoToTheEmptiestSm) {
  // 3 blocks that take 10 us alone and 14 us as two, on 2 SMs: two on one SM, one on the other, which ends first.
  ComputeProfile kernel = compute(3);
  kernel.tile_time = {10, 14};
  EXPECT_DOUBLE_EQ(run(machine(2), kernel, comm(2), {compute_launch()}).end, 14);
  // 2 blocks spread: neither slows the other.
  kernel.work = {2, 1, 2, 1};
  EXPECT_DOUBLE_EQ(run(machine(2), kernel, comm(2), {compute_launch()}).end, 10);
}

TEST(Engine, EqualPriorityIsFirstComeAllServed) {
  // The collective is ready after 1 us, the third wave of compute is dispatched at 20 us and leaves at 30 us.
  const EngineRun result = run(machine(1), compute(6), comm(2), {compute_launch(), comm_launch(false)});
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 30);
  EXPECT_DOUBLE_EQ(result.end, 35);
}

TEST(Engine, UrgentCollectiveStartsOneBlockLater) {
  // Nothing is preempted: the first wave ends at 10 us, then the collective takes both slots for 5 us, then two waves follow.
  const EngineRun result = run(machine(1), compute(6), comm(2), {compute_launch(), comm_launch(true)});
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 10);
  EXPECT_DOUBLE_EQ(result.tasks[1].end, 15);
  EXPECT_DOUBLE_EQ(result.end, 35);
}

TEST(Engine, UrgentCollectiveStartsAtOnceWhereShapingLeftRoom) {
  // One compute block per SM leaves 1,024 threads: the two communication blocks run one after the other beside compute.
  ComputeProfile kernel = compute(6);
  kernel.footprint.dynamic_shared = kPadToOne;
  const EngineRun result = run(machine(1), kernel, comm(2), {compute_launch(), comm_launch(true)});
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 1);
  EXPECT_DOUBLE_EQ(result.tasks[1].end, 11);
  EXPECT_DOUBLE_EQ(result.end, 60);
}

TEST(Engine, ClusterWaitsForItsSmsAndHoldsComputeBack) {
  // One block per SM on 2 SMs; the first block has two tiles (20 us), the others one. SM 1 is free at 10 us, but the cluster of two
  // needs both SMs: 20 us. The third compute block, held back since 10 us, runs from 25 to 35 us.
  ComputeProfile kernel = compute(3);
  kernel.footprint.dynamic_shared = kPadToOne;
  kernel.work = {3, 1, 4, 1};
  CommProfile collective = comm(2);
  collective.footprint.cluster = 2;
  collective.footprint.dynamic_shared = kPadToOne;
  const EngineRun result = run(machine(2), kernel, collective, {compute_launch(), comm_launch(true)});
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 20);
  EXPECT_DOUBLE_EQ(result.tasks[0].end, 35);
}

TEST(Engine, ClusterLiesWithinOneGpc) {
  // 2 SMs in different GPCs: a cluster of two never finds room.
  Machine apart = machine(2);
  apart.gpcs = 2;
  CommProfile collective = comm(2);
  collective.footprint.cluster = 2;
  const EngineRun result = run(apart, compute(1), collective, {comm_launch(false)});
  EXPECT_EQ(result.blocks, 0);
  EXPECT_TRUE(std::isinf(result.tasks[0].end));
}

TEST(Engine, CollectiveWaitsForItsEvent) {
  // Compute ends at 10 us, the event takes 1 us.
  const EngineRun result = run(machine(1), compute(2), comm(2), {compute_launch(), comm_launch(true, {0})});
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 11);
}

TEST(Engine, LaunchGateLetsTheCollectiveBeginFirst) {
  // Without a gate the second kernel starts at 10 us and keeps the collective, ready at 11 us, out until 20 us.
  EXPECT_DOUBLE_EQ(
      run(machine(1), compute(2), comm(2), {compute_launch(), comm_launch(true, {0}), compute_launch()}).tasks[1].begin, 20);
  // With it the collective begins at 11 us; the kernel may start 1 us later and finds room when the collective ends at 16 us.
  Task gated = compute_launch();
  gated.after_begun = {1};
  const EngineRun result = run(machine(1), compute(2), comm(2), {compute_launch(), comm_launch(true, {0}), gated});
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 11);
  EXPECT_DOUBLE_EQ(result.tasks[2].begin, 16);
}

TEST(Engine, LaunchGateWaitsForAllBlocksOfTheCollective) {
  // Of the collective's two blocks an SM holds one: the first runs from 1 to 6 us, the second begins then. The kernel, for which
  // there is room all the time (120 + 100 of 228 KiB), may start 1 us later.
  ComputeProfile kernel = compute(1);
  kernel.footprint.dynamic_shared = kibibytes(100);
  CommProfile collective = comm(2);
  collective.footprint.dynamic_shared = kPadToOne;
  Task gated = compute_launch();
  gated.after_begun = {0};
  const EngineRun result = run(machine(1), kernel, collective, {comm_launch(false), gated});
  EXPECT_DOUBLE_EQ(result.tasks[0].begin, 1);
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 7);
}

TEST(Engine, ACommunicationBlockTakesAShareOfTheIssueSlots) {
  // A compute block alone takes 10 us, two take 14 us each. Beside a communication block that counts as half of one: 12 us.
  ComputeProfile kernel = compute(1);
  kernel.tile_time = {10, 14};
  CommProfile collective = comm(1);
  collective.startup = 50;
  collective.issue_share = 0.5;
  Machine one = machine(1);
  one.event_gap = 0;
  EXPECT_DOUBLE_EQ(run(one, kernel, collective, {compute_launch(), comm_launch(false)}).tasks[0].end, 12);
}

TEST(Engine, KernelOfOneWaveTakesTwoBesideACollective) {
  // 4 SMs, one block each; a resident collective holds one SM for 12 us. The fourth block follows the first three: 20 us, not 10.
  ComputeProfile kernel = compute(4);
  kernel.footprint.dynamic_shared = kibibytes(227);
  CommProfile collective = comm(1);
  collective.startup = 12;
  Task gated = compute_launch();
  gated.after_begun = {0};
  Machine four = machine(4);
  four.event_gap = 0;
  const EngineRun result = run(four, kernel, collective, {comm_launch(false), gated});
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 0);
  EXPECT_DOUBLE_EQ(result.tasks[1].end, 20);
}

TEST(Engine, PersistentBlocksTakeTheTilesOfOneThatIsLate) {
  // 16 tiles of 10 us on 4 SMs, one of which a collective holds. Held for 35 us: three blocks take 12 tiles by 40 us, the fourth
  // one at 35 us, and the last three end at 50 us. (Fixed shares of four: 75 us.) Held for 80 us: three blocks do all in 6 rounds,
  // and the fourth block begins where one of them has ended, to find nothing left.
  for (const auto& [held, end] : {std::pair(35.0, 50.0), std::pair(80.0, 60.0)}) {
    ComputeProfile kernel = compute(4);
    kernel.footprint.dynamic_shared = kibibytes(227);
    kernel.work = {4, 1, 16, 1};
    kernel.persistent = true;
    CommProfile collective = comm(1);
    collective.startup = held;
    Task gated = compute_launch();
    gated.after_begun = {0};
    Machine four = machine(4);
    four.event_gap = 0;
    const EngineRun result = run(four, kernel, collective, {comm_launch(false), gated});
    EXPECT_DOUBLE_EQ(result.tasks[1].end, end) << held;
    EXPECT_EQ(result.blocks, 5);
  }
}

TEST(Engine, MemoryBoundBlocksSlowEachOther) {
  // One SM of two blocks asks for 2 x 1,000 B in 10 us = 200 B/us of a memory that gives 100: stretched by sqrt(1 + 2^2).
  ComputeProfile kernel = compute(2);
  kernel.traffic = 1'000;
  kernel.memory_share = 1;
  Machine slow = machine(1);
  slow.memory_rate = 100;
  EXPECT_NEAR(run(slow, kernel, comm(2), {compute_launch()}).end, 10 * std::sqrt(5.0), 1e-9);
}

Machine with_copies(int sms) {
  Machine made = machine(sms);
  made.copy_rate = 1'000;
  made.copy_gap = 2;
  return made;
}

TEST(Engine, ACopyTakesNoSm) {
  // Six blocks, two at a time, 30 us as without the copy, which begins with its stream after 1 us and takes 5,000 B / (1,000 B/us).
  const EngineRun result = run(with_copies(1), compute(6), comm(2), {compute_launch(), copy_launch(5'000)});
  EXPECT_DOUBLE_EQ(result.tasks[0].end, 30);
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 1);
  EXPECT_DOUBLE_EQ(result.tasks[1].end, 6);
  EXPECT_EQ(result.blocks, 6);
}

TEST(Engine, CopiesKeepTheirPlaceOnTheStream) {
  // The kernel runs from 1 to 6 us, the copy from 8 to 13 behind its gap, the next kernel at once behind it. Compute that waits for
  // the copy begins one event gap later: 14 us.
  Task waiting = compute_launch();
  waiting.after = {1};
  const EngineRun result =
      run(with_copies(2), compute(2), comm(2), {comm_launch(false), copy_launch(5'000), comm_launch(false), waiting});
  EXPECT_DOUBLE_EQ(result.tasks[0].end, 6);
  EXPECT_DOUBLE_EQ(result.tasks[1].begin, 8);
  EXPECT_DOUBLE_EQ(result.tasks[1].end, 13);
  EXPECT_DOUBLE_EQ(result.tasks[2].begin, 13);
  EXPECT_DOUBLE_EQ(result.tasks[3].begin, 14);
}

TEST(Engine, ACopyTakesMemoryFromBlocks) {
  // One block moves 18,000 B in 10 us of a memory that gives 2,000 B/us. The copy, 1 to 6 us, sends 500 B/us and receives as many:
  // 1,000 of 1,800 are left to the block, so that 5 us do the work of 5 x 10 / 18, and the block ends 5 - 50/18 us later.
  ComputeProfile kernel = compute(1);
  kernel.traffic = 18'000;
  Machine slow = with_copies(1);
  slow.memory_rate = 2'000;
  slow.copy_rate = 500;
  EXPECT_DOUBLE_EQ(run(slow, kernel, comm(2), {compute_launch()}).end, 10);
  EXPECT_DOUBLE_EQ(run(slow, kernel, comm(2), {compute_launch(), copy_launch(2'500)}).end, 10 + 5 - 50.0 / 18);
}

TEST(Engine, CopiesTakeAtMostHalfOfTheMemory) {
  // 1,000 B/us each way would be twice what the memory gives: 250 each way is half of it, and 2,500 B take 10 us from 1 us on.
  Machine slow = with_copies(1);
  slow.memory_rate = 1'000;
  EXPECT_DOUBLE_EQ(run(slow, compute(1), comm(2), {compute_launch(), copy_launch(2'500)}).tasks[1].end, 11);
}

}  // namespace
}  // namespace elbowroom::sim
