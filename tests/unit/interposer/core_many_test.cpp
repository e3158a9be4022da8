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
  program.core->on_stream_wait(kComputeStream, kAfterTheFirst, program.core->event_records(kAfterTheFirst));
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
  program.core->on_stream_wait(kComputeStream, kAfterTheLast, program.core->event_records(kAfterTheLast));
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
  EXPECT_NE(program.report().find(R"("collectives_forgotten":0)"), std::string::npos);
}

}  // namespace
}  // namespace elbowroom::interposer
