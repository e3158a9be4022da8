#include <gtest/gtest.h>

#include <string>

#include "fake_platform.hpp"

// Many collectives under way at once.

namespace elbowroom::interposer {
namespace {

// Two communicators on streams of their own: what begins last is waited for.
TEST(CoreMany, GatesOnTheYoungestOfSeveralCollectives) {
  Program program(rules_of(Policy::gate));
  constexpr StreamId kSecondCommStream = 0x6000;
  program.fake.streams[kSecondCommStream] = {kContext, 0, false};
  const Decision first = program.launch(kAllReduce, kCommStream);
  const Decision second = program.launch(kAllReduce, kSecondCommStream);
  ASSERT_NE(first.completion_event, second.completion_event);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, second.completion_event);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, first.completion_event) << "the next launch waits for the other";
}

// Collectives of every device take the events in turn: with the 256th younger one the first's event is that one's.
TEST(CoreMany, GatesOnNoCollectiveWhoseEventWasGivenAway) {
  Program program(rules_of(Policy::gate));
  constexpr StreamId kOtherDevice = 0x6000;
  program.fake.streams[kOtherDevice] = {0x8000, 1, false};
  const Decision first = program.launch(kAllReduce, kCommStream);
  for (std::size_t i = 1; i < kEventSlots; ++i) { program.launch(kAllReduce, kOtherDevice); }
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, first.completion_event);
  EXPECT_EQ(program.launch(kAllReduce, kOtherDevice).completion_event, first.completion_event);
  EXPECT_EQ(program.launch(kGemm, kOtherComputeStream).refusal, Refusal::no_event);
}

// As a program of tensor parallelism has: 8,000 collectives that nothing is known of, each behind a kernel and before the next.
TEST(CoreMany, FollowsThousandsOfUnfinishedCollectives) {
  Program program(rules_of(Policy::gate));
  constexpr EventId kAfterTheFirst = 0x9200, kAfterTheLast = 0x9300;
  for (int i = 0; i < 8'000; ++i) {
    program.launch(kAllReduce, kCommStream);
    if (i == 0) { program.core->on_event_record(kAfterTheFirst, kCommStream, program.core->before_event_record(kAfterTheFirst)); }
  }
  program.core->on_event_record(kAfterTheLast, kCommStream, program.core->before_event_record(kAfterTheLast));
  program.core->on_stream_wait(kComputeStream, kAfterTheFirst, program.core->before_wait(kAfterTheFirst));
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
  program.core->on_stream_wait(kComputeStream, kAfterTheLast, program.core->before_wait(kAfterTheLast));
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
  EXPECT_NE(program.report().find(R"("collectives_forgotten":0)"), std::string::npos);
}

constexpr StreamId kReceiveStream = 0x6000;

// A rank may come to the receive only when it is told that the product has ended.
TEST(CoreMany, GatesOnNothingBehindAForgottenReceive) {
  Program program(rules_of(Policy::gate));
  program.fake.streams[kReceiveStream] = {kContext, 0, false};
  program.launch(kAllReduce, kReceiveStream);
  for (int i = 0; i < 8'200; ++i) { program.launch(kAllGather, kCommStream); }
  program.core->on_synchronized(program.core->stream_point(kCommStream), program.now_ns);
  program.launch(kAllReduce, kReceiveStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::queued_collective);
  program.core->on_synchronized(program.core->stream_point(kReceiveStream), program.now_ns);
  program.launch(kAllReduce, kReceiveStream);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent) << "the receive is known to be over";
}

// With 64 the 24 blocks of each do not fit; with one more two that nothing orders stand in one chain.
TEST(CoreMany, GatesNothingOnceMoreCollectivesAreUnorderedThanThereAreChains) {
  Program program(rules_of(Policy::gate));
  for (StreamId i = 1; i <= 65; ++i) {
    const StreamId stream = 0x10000 + i * 0x100;
    program.fake.streams[stream] = {kContext, 0, false};
    program.launch(kAllReduce, stream);
    if (i == 64) { EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::several_waves); }
  }
  EXPECT_EQ(program.launch(kGemm, kOtherComputeStream).refusal, Refusal::order_lost);
}

// 12,288 kinds find room, three quarters of 16,384, and one of them is all others.
TEST(CoreMany, SeesCollectivesOfKindsThatFindNoRoom) {
  Program program(rules_of(Policy::gate));
  program.fake.streams[kReceiveStream] = {kContext, 0, false};
  program.launch(kAllReduce, kCommStream);
  program.core->on_synchronized(program.core->stream_point(kCommStream), program.now_ns);
  LaunchFacts facts = program.facts(kGemm, kComputeStream);
  for (unsigned i = 0; i < 12'300; ++i) {
    facts.grid.x = 4'096 + i;
    program.launch(facts);
  }
  ASSERT_EQ(program.report().find(R"("untracked":0,)"), std::string::npos) << "the table is full";
  LaunchFacts late = program.facts(kAllGather, kCommStream);
  late.grid = {100, 1, 1};
  program.launch(late);
  EXPECT_NE(program.launch(kAllReduce, kCommStream).completion_event, kNoEvent);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, kNoEvent) << "it stands behind the gather";
  program.launch(kAllReduce, kReceiveStream);
  EXPECT_NE(program.launch(kGemm, kOtherComputeStream).wait_on, kNoEvent) << "24 + 100 blocks on 132 SMs";
  late.grid = {120, 1, 1};
  program.core->on_synchronized(program.core->stream_point(kCommStream), program.now_ns);
  program.core->on_synchronized(program.core->stream_point(kReceiveStream), program.now_ns);
  program.launch(late);
  program.launch(kAllReduce, kReceiveStream);
  EXPECT_EQ(program.launch(kGemm, kOtherComputeStream).wait_on, kNoEvent) << "24 + 120 blocks do not fit";
}

// 2,047 kernels find room beside the one that stands for those that do not.
TEST(CoreMany, GatesNothingOnceACollectiveOrAWaitForTheHostFindsNoRoom) {
  for (const char* late :
       {"_ZN4c10d4cuda6detail14kernel_barrierEPim", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", "plain_kernel"}) {
    Program program(rules_of(Policy::gate));
    constexpr FunctionId kFirst = 1'000, kLate = 9'000;
    program.launch(kAllReduce, kCommStream);
    program.launch(kGemm, kComputeStream);
    program.core->on_synchronized(program.core->context_point(kContext), program.now_ns);
    for (FunctionId i = 0; i < 2'100; ++i) {
      program.fake.names[kFirst + i] = "kernel_" + std::to_string(i);
      program.launch(kFirst + i, kComputeStream);
    }
    program.fake.names[kLate] = late;
    program.launch(kLate, kOtherComputeStream);
    program.launch(kAllReduce, kCommStream);
    const bool counts = std::string(late) != "plain_kernel";
    EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, counts ? Refusal::order_lost : Refusal::none) << late;
  }
}

}  // namespace
}  // namespace elbowroom::interposer
