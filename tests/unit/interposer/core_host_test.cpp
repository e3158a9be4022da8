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

// Others say what they said. Where nobody says which event was recorded, none does until it is recorded again.
TEST(CoreHost, AnEventSaysNothingOnceItWasRecordedUnseen) {
  Program program(rules_of(Policy::gate));
  constexpr EventId kEvent = 0x9100, kOtherEvent = 0x9200;
  for (const EventId unseen : {kOtherEvent, kEvent, kSomeEvent}) {
    program.launch(kAllReduce, kCommStream);
    program.core->on_host_dependency(kOtherComputeStream);
    program.core->on_event_record(kEvent, kOtherComputeStream, program.core->before_event_record(kEvent));
    program.core->before_unseen_record(unseen);
    program.core->after_unseen_record(unseen);
    program.core->on_synchronized(program.core->event_point(kEvent), program.now_ns);
    const Decision product = program.launch(kGemm, kComputeStream);
    EXPECT_EQ(product.refusal, unseen == kOtherEvent ? Refusal::none : Refusal::host_dependency);
    program.core->on_synchronized(program.core->context_point(kContext), program.now_ns);
  }
}

// A question is no operation: what blocking streams launch does not wait for what is asked about, and is over without it.
TEST(CoreHost, AskingTheLegacyStreamOrdersNothing) {
  Program program(rules_of(Policy::gate));
  constexpr StreamId kLegacy = legacy_stream(kContext), kWaiting = 0x5000, kBlocking = 0x6000;
  for (const StreamId stream : {kLegacy, kWaiting, kBlocking}) { program.fake.streams[stream] = {kContext, 0, true}; }
  program.launch(kAllReduce, kCommStream);
  program.launch(kGemm, kLegacy);
  program.synchronize(kCommStream);
  program.core->on_host_dependency(kWaiting);
  static_cast<void>(program.core->stream_point(kLegacy));  // cuStreamQuery said "not ready"
  program.launch(kGemm, kBlocking);
  program.synchronize(kBlocking);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
}

// Nor is a graph without nodes: it may be launched behind a wait that no other stream is held back by.
TEST(CoreHost, AGraphWithoutKernelsOrdersNothing) {
  Program program(rules_of(Policy::gate));
  constexpr StreamId kLegacy = legacy_stream(kContext), kWaiting = 0x5000, kBlocking = 0x6000;
  for (const StreamId stream : {kLegacy, kWaiting, kBlocking}) { program.fake.streams[stream] = {kContext, 0, true}; }
  program.launch(kAllReduce, kCommStream);
  program.synchronize(kCommStream);
  program.core->on_host_dependency(kWaiting);
  program.launch_graph(kLegacy, {});
  program.launch(kGemm, kBlocking);
  program.synchronize(kBlocking);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
}

// Measured on an H100: an event that is recorded on a blocking stream passes while the legacy stream waits for the host.
TEST(CoreHost, ARecordOnABlockingStreamDoesNotWaitForTheLegacyStream) {
  Program program(rules_of(Policy::gate));
  constexpr StreamId kLegacy = legacy_stream(kContext), kBlocking = 0x6000;
  for (const StreamId stream : {kLegacy, kBlocking}) { program.fake.streams[stream] = {kContext, 0, true}; }
  program.launch(kAllReduce, kCommStream);
  program.launch(kGemm, kBlocking);
  program.synchronize(kCommStream);
  program.core->on_host_dependency(kLegacy);
  constexpr EventId kEvent = 0x9100;
  program.core->on_event_record(kEvent, kBlocking, program.core->before_event_record(kEvent));
  program.core->on_synchronized(program.core->event_point(kEvent), program.now_ns);
  program.synchronize(kBlocking);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
}

TEST(CoreHost, AKernelThatSpinsUntilTheHostStoresIsAWait) {
  Program program(rules_of(Policy::gate));
  constexpr FunctionId kBarrier = 78;
  program.fake.names[kBarrier] = "_ZN4c10d4cuda6detail14kernel_barrierEPim";
  const Decision spins = program.launch(kBarrier, kOtherComputeStream);
  EXPECT_TRUE(spins.waits_for_host && spins.untouched(0));
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::host_dependency);
  program.synchronize(kOtherComputeStream);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent);
}

// The host may let it pass only when the gated launch has ended. What is captured again must become the same graph, whatever waits
// outside.
TEST(CoreHost, AWaitThatIsCapturedEndsTheGateInItsCapture) {
  for (const bool inside : {false, true}) {
    Program program(rules_of(Policy::gate));
    program.core->on_capture_begin(kCommStream);
    program.order(kCommStream, kComputeStream);
    program.core->on_host_dependency(inside ? kCommStream : kOtherComputeStream);
    program.launch(kAllReduce, kCommStream);
    EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on == kNoEvent, inside);
    EXPECT_EQ(program.core->on_capture_end(kCommStream).waits, inside);
  }
}

TEST(CoreHost, AGraphThatWaitsEndsTheGateInTheCaptureThatHoldsIt) {
  Program program(rules_of(Policy::gate));
  program.core->on_capture_begin(kCommStream);
  program.order(kCommStream, kComputeStream);
  program.launch_graph(kCommStream, {.waits = true});
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
