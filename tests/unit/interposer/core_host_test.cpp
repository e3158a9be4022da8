#include <gtest/gtest.h>

#include "fake_platform.hpp"

// What a stream waits for that the host or another process does later.

namespace elbowroom::interposer {
namespace {

TEST(CoreHost, AHostActionSwitchesTheGateOffUntilItIsOver) {
  Program program(rules_of(Policy::gate));
  program.core->on_host_dependency(kOtherComputeStream);
  program.core->on_host_dependency(kOtherComputeStream);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
  program.synchronize(kComputeStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency) << "another stream's";
  program.order(kOtherComputeStream, kComputeStream);
  program.synchronize(kComputeStream);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent);
}

// The stream's one place stands for the action that was told last: what the host waited for is the first.
TEST(CoreHost, ARenewedHostActionIsNotOverWithTheFirst) {
  Program program(rules_of(Policy::gate));
  program.core->on_host_dependency(kOtherComputeStream);
  const SyncPoint first = program.core->stream_point(kOtherComputeStream);
  program.core->on_host_dependency(kOtherComputeStream);  // by another thread, while this one waits
  program.core->on_synchronized(first, program.now_ns);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
  program.synchronize(kOtherComputeStream);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent);
}

TEST(CoreHost, AHostActionThatDidNotComeToBeIsOver) {
  Program program(rules_of(Policy::gate));
  const SyncPoint refused = program.core->on_host_dependency(kOtherComputeStream);
  program.core->on_synchronized(refused, program.now_ns);
  program.launch(kAllReduce, kCommStream);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent);
  // Behind one that came to be, it is not told from that one.
  program.core->on_host_dependency(kOtherComputeStream);
  const SyncPoint second = program.core->on_host_dependency(kOtherComputeStream);
  program.core->on_synchronized(second, program.now_ns);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
}

// Another thread enqueued the host action behind the event, and was told of first.
TEST(CoreHost, AnEventStandsBehindNoHostActionThatIsYoungerThanItsRecord) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream);
  program.core->on_host_dependency(kOtherComputeStream);
  constexpr EventId kEvent = 0x9100;
  RecordPoint before = program.core->before_event_record(kEvent);
  program.core->on_event_record(kEvent, kOtherComputeStream, before);
  program.core->on_synchronized(program.core->event_point(kEvent), program.now_ns);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent) << "the older action is over";
  program.launch(kAllReduce, kCommStream);
  before = program.core->before_event_record(kEvent);
  program.core->on_host_dependency(kOtherComputeStream);
  program.core->on_event_record(kEvent, kOtherComputeStream, before);
  program.core->on_synchronized(program.core->event_point(kEvent), program.now_ns);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
}

// Nothing is followed before the first collective, but for what is around a capture.
TEST(CoreHost, AnEventSaysNothingOnceItWasRecordedUnfollowed) {
  Program program(rules_of(Policy::gate));
  constexpr EventId kEvent = 0x9100;
  program.core->before_capture(kComputeStream);
  program.core->on_capture_begin(kComputeStream);
  program.core->on_host_dependency(kOtherComputeStream);
  program.core->on_event_record(kEvent, kOtherComputeStream, program.core->before_event_record(kEvent));
  static_cast<void>(program.core->on_capture_end(kComputeStream));
  program.core->on_event_record(kEvent, kComputeStream, program.core->before_event_record(kEvent));
  program.core->on_synchronized(program.core->event_point(kEvent), program.now_ns);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
}

// The driver may refuse to end it, or wait for what its streams hold.
TEST(CoreHost, WhatAContextHeldIsOverWhenItHasEnded) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream);
  program.core->on_host_dependency(kOtherComputeStream);
  const SyncPoint held = program.core->context_point(kContext);
  program.core->on_context_destroy(kContext);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
  program.core->on_synchronized(held, program.now_ns);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent);
}

}  // namespace
}  // namespace elbowroom::interposer
