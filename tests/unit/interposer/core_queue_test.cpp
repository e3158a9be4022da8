#include <gtest/gtest.h>

#include "fake_platform.hpp"

// What a collective may stand behind although nothing says so: streams of one context that wait for each other by themselves.

namespace elbowroom::interposer {
namespace {

constexpr StreamId kLegacyStream = legacy_stream(kContext), kBlockingStream = 0x6000, kOlderStream = 0x7000;
constexpr EventId kOlderEvent = 0x9100;

/// `kOlderStream` holds a collective whose peers may be late. What is launched on `kComputeStream` waits for nothing of it.
class CoreQueue : public testing::Test {
 protected:
  CoreQueue() : program_(rules_of(Policy::gate)) {
    for (const StreamId stream : {kLegacyStream, kBlockingStream}) { program_.fake.streams[stream] = {kContext, 0, true}; }
    program_.fake.streams[kOlderStream] = {kContext, 0, false};
  }
  void record_older(StreamId stream) {
    program_.launch(kAllGather, stream);
    program_.core->on_event_record(kOlderEvent, stream, program_.core->before_event_record(kOlderEvent));
  }
  void wait_for_older(StreamId stream) {
    program_.core->on_stream_wait(stream, kOlderEvent, program_.core->before_wait(kOlderEvent));
  }
  /// Whether a launch beside both is gated on the younger collective; on the older one it may be.
  bool gates_on(StreamId younger, StreamId compute = kComputeStream) {
    const Decision collective = program_.launch(kAllReduce, younger);
    return program_.launch(kGemm, compute).wait_on == collective.completion_event;
  }

  Program program_;
};

TEST_F(CoreQueue, NothingIsBehindWhatNoBlockingStreamHolds) {
  record_older(kOlderStream);
  program_.launch(kGemm, kBlockingStream);
  program_.order(kBlockingStream, kCommStream);
  EXPECT_TRUE(gates_on(kCommStream));
}

// Measured on an H100: a kernel on the legacy stream waits for what a blocking one waits for, with nothing launched there.
TEST_F(CoreQueue, TheLegacyStreamIsBehindWhatABlockingStreamWaitsFor) {
  record_older(kOlderStream);
  wait_for_older(kBlockingStream);
  EXPECT_FALSE(gates_on(kLegacyStream));
  program_.synchronize(kLegacyStream);
  EXPECT_FALSE(gates_on(kLegacyStream)) << "the host has waited for no stream that holds it";
  program_.synchronize(kLegacyStream);
  program_.synchronize(kOlderStream);
  EXPECT_TRUE(gates_on(kLegacyStream)) << "it is known to be over";
}

// Measured on an H100: an event that is recorded on a blocking stream passes after the legacy stream's kernel, though nothing was
// launched on that stream.
TEST_F(CoreQueue, AnEventOfABlockingStreamIsBehindTheLegacyStream) {
  program_.launch(kAllGather, kLegacyStream);
  program_.order(kBlockingStream, kCommStream);
  EXPECT_FALSE(gates_on(kCommStream));
}

TEST_F(CoreQueue, WhatWaitsForAnotherContextIsBehindItsBlockingStreams) {
  constexpr ContextId kOther = 0xa000;
  constexpr StreamId kOthersOlder = 0xb000, kOthersYounger = 0xc000;
  for (const StreamId stream : {kOthersOlder, kOthersYounger}) { program_.fake.streams[stream] = {kOther, 0, true}; }
  program_.launch(kAllGather, kOthersOlder);
  // The legacy stream of that context may have filled memory in between.
  program_.launch(kGemm, kOthersYounger);
  program_.order(kOthersYounger, kCommStream);
  EXPECT_FALSE(gates_on(kCommStream));
  program_.synchronize(kCommStream);
  program_.launch(kGemm, kBlockingStream);
  program_.order(kBlockingStream, kCommStream);
  EXPECT_FALSE(gates_on(kCommStream)) << "and behind those of two contexts";
  program_.synchronize(kCommStream);
  program_.synchronize(kOthersOlder);
  EXPECT_TRUE(gates_on(kCommStream));
}

// One of them waits for the first context, and another one may be behind it.
TEST_F(CoreQueue, WhatABlockingStreamWaitsForOfAnotherContextHoldsItsOwnBack) {
  constexpr ContextId kOther = 0xa000;
  constexpr StreamId kOthersOlder = 0xb000, kOthersYounger = 0xc000, kOthersCompute = 0xd000;
  for (const StreamId stream : {kOthersOlder, kOthersYounger}) { program_.fake.streams[stream] = {kOther, 0, true}; }
  program_.fake.streams[kOthersCompute] = {kOther, 0, false};
  EXPECT_TRUE(gates_on(kOthersYounger, kOthersCompute));
  program_.synchronize(kOthersYounger);
  program_.launch(kAllGather, kLegacyStream);
  program_.order(kBlockingStream, kOthersOlder);
  EXPECT_FALSE(gates_on(kOthersYounger, kOthersCompute));
}

// What the legacy stream seemed to order is not ordered, and a wait for the host not over.
TEST_F(CoreQueue, ALaunchThatWasRefusedOrdersNothing) {
  program_.launch(kAllReduce, kCommStream);
  program_.core->on_host_dependency(kBlockingStream);
  program_.launch(kAllGather, kLegacyStream, LaunchOutcome::failed);
  constexpr StreamId kOther = 0x8000;
  program_.fake.streams[kOther] = {kContext, 0, true};
  program_.launch(kGemm, kOther);
  program_.synchronize(kOther);
  EXPECT_FALSE(gates_on(kCommStream));
  const SyncPoint all = program_.core->context_point(kContext);
  program_.launch(kAllGather, kLegacyStream, LaunchOutcome::failed);  // by another thread, while the host waits
  program_.core->on_synchronized(all, program_.now_ns);
  EXPECT_FALSE(gates_on(kCommStream));
  program_.core->on_synchronized(program_.core->context_point(kContext), program_.now_ns);
  EXPECT_TRUE(gates_on(kCommStream)) << "all that seemed to be over is";
}

TEST_F(CoreQueue, ARefusedLaunchThatCouldOrderNothingIsNoMatter) {
  program_.launch(kAllGather, kOlderStream, LaunchOutcome::failed);  // nothing was followed yet
  EXPECT_TRUE(gates_on(kCommStream));
}

}  // namespace
}  // namespace elbowroom::interposer
