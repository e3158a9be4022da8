#include <gtest/gtest.h>

#include <vector>

#include "fake_platform.hpp"

// Which collectives are told apart, and which of their ends are known.

namespace elbowroom::interposer {
namespace {

// As many streams as are told apart carry collectives that have not ended, and one more.
TEST(CoreLanes, GatesNothingOnceMoreStreamsCarryCollectivesThanAreToldApart) {
  Program program(rules_of(Policy::gate));
  for (StreamId i = 0; i <= kLanes; ++i) {
    program.fake.streams[0x10'000 + i * 64] = {kContext};
    EXPECT_EQ(program.launch(kAllReduce, 0x10'000 + i * 64).completion_event == kNoEvent, i == kLanes) << i;
  }
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::order_lost);
}

// Streams that are made and destroyed again take the place of each other.
TEST(CoreLanes, TellsApartStreamsThatFollowEachOther) {
  Program program(rules_of(Policy::gate));
  for (StreamId i = 0; i < 5 * kLanes; ++i) {
    const StreamId stream = 0x10'000 + i * 64;
    program.fake.streams[stream] = {kContext};
    const Decision collective = program.launch(kAllReduce, stream);
    EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, collective.completion_event) << i;
    program.finish(stream);
    program.launch(kGemm, kOtherComputeStream);
    program.core->on_stream_destroy(stream);
  }
}

// Servers start a thread for each request, each with a default stream of its own. What all streams are behind is forgotten then.
TEST(CoreLanes, FindsRoomForHoweverManyStreams) {
  Program program(rules_of(Policy::gate));
  const Decision collective = program.launch(kAllReduce, kCommStream);
  for (StreamId i = 0; i < 3'000; ++i) {
    const StreamId stream = 0x10'000 + i * 64;
    program.fake.streams[stream] = {kContext};
    EXPECT_EQ(program.launch(kGemm, stream).wait_on, collective.completion_event) << i;
  }
}

// Streams that live on: an idle one leaves its place.
TEST(CoreLanes, TellsApartStreamsWhoseCollectivesHaveEnded) {
  Program program(rules_of(Policy::gate));
  for (StreamId i = 0; i < 5 * kLanes; ++i) {
    const StreamId stream = 0x10'000 + i * 64;
    program.fake.streams[stream] = {kContext};
    EXPECT_NE(program.launch(kAllReduce, stream).completion_event, kNoEvent) << i;
    EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent) << i;
    program.finish(stream);
  }
}

// What a program launches at its start, while nothing is followed, need not stand in the way of a gate for ever.
TEST(CoreLanes, AsksForTheFirstEndsOfEachStream) {
  Program program(rules_of(Policy::priority));
  int asked = 0;
  for (int i = 0; i < 200; ++i) {
    const Decision decision = program.core->on_launch(program.facts(kAllReduce, kCommStream));
    asked += program.core->on_launched(decision.ticket, LaunchOutcome::ok) != kNoEvent ? 1 : 0;
  }
  EXPECT_EQ(asked, 63);
  const Decision first = program.core->on_launch(program.facts(kAllReduce, kOtherComputeStream));
  EXPECT_NE(program.core->on_launch(program.facts(kAllReduce, kOtherComputeStream)).ticket, 0U);
  EXPECT_EQ(program.core->on_launched(first.ticket, LaunchOutcome::ok), kNoEvent) << "another thread's collective is under way";
  Program observer(rules_of(Policy::observe));
  const Decision decision = observer.core->on_launch(observer.facts(kAllReduce, kCommStream));
  EXPECT_EQ(observer.core->on_launched(decision.ticket, LaunchOutcome::ok), kNoEvent) << "nothing is added";
}

// The newest collective of a stream that goes is the last one there, and its end is asked for.
TEST(CoreLanes, AsksForTheLastEndOfAStream) {
  Program program(rules_of(Policy::priority));
  Core& core = *program.core;
  EXPECT_EQ(core.on_stream_destroy(kComputeStream).slot, kNoEvent);
  for (int i = 0; i < 100; ++i) { program.launch(kAllReduce, kCommStream); }
  const LastEnd last = core.on_stream_destroy(kCommStream);
  EXPECT_EQ(last.slot, 100);
  EXPECT_EQ(last.context, kContext);
  core.on_end_recorded(last.ticket, true);
  EXPECT_EQ(core.on_stream_destroy(kCommStream).slot, kNoEvent);
}

// Two calls must not record one event: the second one is of another collective.
TEST(CoreLanes, LeavesAnEventThatIsBeingRecorded) {
  Program program(rules_of(Policy::gate));
  Core& core = *program.core;
  const Decision slow = core.on_launch(program.facts(kAllReduce, kCommStream));
  const EventSlot slot = core.on_launched(slow.ticket, LaunchOutcome::ok);
  std::vector<EventSlot> slots;
  for (std::size_t i = 0; i < kEventSlots; ++i) {
    const Decision decision = core.on_launch(program.facts(kAllReduce, kOtherComputeStream));
    slots.push_back(core.on_launched(decision.ticket, LaunchOutcome::ok));
    core.on_end_recorded(decision.ticket, true);
  }
  EXPECT_NE(slot, kNoEvent);
  EXPECT_NE(slots.front(), kNoEvent);
  EXPECT_EQ(slots.back(), kNoEvent) << "of the same slot as the first";
}

}  // namespace
}  // namespace elbowroom::interposer
