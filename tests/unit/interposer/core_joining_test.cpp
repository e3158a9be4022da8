#include <gtest/gtest.h>

#include "passing_process.hpp"

// A launch on a blocking stream is behind what the legacy default one holds, and the other way round. That holds once the driver
// has the launch. What another thread asks, records or waits for before that says nothing of what the launch will be behind.

namespace elbowroom::interposer {
namespace {

constexpr StreamId kOtherBlockingStream = 0x6000;
constexpr EventId kJoinedEvent = 0x9200;

/// The legacy stream holds a collective whose peers are late.
class CoreJoining : public testing::Test {
 protected:
  CoreJoining() : program_(rules_of(Policy::gate)) {
    for (const StreamId stream : {kDefaultStream, kBlockingStream, kOtherBlockingStream}) {
      program_.fake.streams[stream] = {kContext, 0, true};
    }
    program_.launch(kAllGather, kDefaultStream);
  }
  Ticket begin(StreamId stream, FunctionId function = kGemm) { return core().on_launch(program_.facts(function, stream)).ticket; }
  void end(Ticket launch, LaunchOutcome outcome = LaunchOutcome::plain_ok) { core().on_launched(launch, outcome); }
  void record(StreamId stream) { core().on_event_record(kJoinedEvent, stream, core().before_event_record(kJoinedEvent)); }
  void synchronize_event() { core().on_synchronized(core().event_point(kJoinedEvent), program_.now_ns); }
  /// Whether a launch beside it is gated on a collective behind the late one. It would wait for the late one's peers.
  bool late_seems_over(StreamId late = kDefaultStream) {
    const Decision behind = program_.launch(kAllReduce, late);
    return program_.launch(kGemm, kComputeStream).wait_on == behind.completion_event;
  }
  Core& core() { return *program_.core; }

  Program program_;
};

TEST_F(CoreJoining, AStreamIsBehindTheLegacyOneOnceTheDriverHasALaunch) {
  end(begin(kBlockingStream));
  program_.synchronize(kBlockingStream);
  EXPECT_TRUE(late_seems_over());
}

TEST_F(CoreJoining, AStreamIsBehindTheLegacyOneOnceTheDriverHasACollective) {
  end(begin(kBlockingStream, kAllReduce), LaunchOutcome::ok);
  program_.synchronize(kBlockingStream);
  EXPECT_TRUE(late_seems_over());
}

TEST_F(CoreJoining, AStreamThatIsAskedBeforeIsNot) {
  const Ticket launch = begin(kBlockingStream);
  EXPECT_NE(launch, 0U);
  const SyncPoint asked = core().stream_point(kBlockingStream);
  end(launch);
  core().on_synchronized(asked, program_.now_ns);
  EXPECT_FALSE(late_seems_over());
}

TEST_F(CoreJoining, NorIsOneThatWillHoldACollective) {
  const Ticket launch = begin(kBlockingStream, kAllReduce);
  program_.synchronize(kBlockingStream);
  end(launch, LaunchOutcome::ok);
  EXPECT_FALSE(late_seems_over());
}

TEST_F(CoreJoining, NorIsOneThatWillHoldAGraph) {
  for (const GraphFacts& held : {GraphFacts{0, 1, false, false}, GraphFacts{1, 1, false, false}}) {
    const GraphStep graph = core().on_graph_launch(kOtherBlockingStream, held, program_.now_ns);
    program_.synchronize(kOtherBlockingStream);
    core().after_graph(graph, true);
    EXPECT_FALSE(late_seems_over()) << held.collectives;
  }
}

TEST_F(CoreJoining, AGraphIsBehindTheLegacyStreamOnceTheDriverHasIt) {
  program_.launch_graph(kBlockingStream, {0, 1, false, false});
  program_.synchronize(kBlockingStream);
  EXPECT_TRUE(late_seems_over());
}

TEST_F(CoreJoining, AnEventThatIsRecordedBeforeIsBehindNothing) {
  const Ticket launch = begin(kBlockingStream);
  record(kBlockingStream);
  end(launch);
  synchronize_event();
  EXPECT_FALSE(late_seems_over());
}

TEST_F(CoreJoining, AnEventWhoseRecordWasUnderWayThenIsBehindNothing) {
  const Ticket launch = begin(kBlockingStream);
  const RecordPoint before = core().before_event_record(kJoinedEvent);
  end(launch);
  core().on_event_record(kJoinedEvent, kBlockingStream, before);
  synchronize_event();
  EXPECT_FALSE(late_seems_over());
}

TEST_F(CoreJoining, AnEventOfAStreamThatJoinedIsBehindTheLegacyOne) {
  end(begin(kBlockingStream));
  const Ticket elsewhere = begin(kOtherBlockingStream);
  record(kBlockingStream);
  end(elsewhere);
  synchronize_event();
  EXPECT_TRUE(late_seems_over());
}

// The first launch of two has no more to tell than the second.
TEST_F(CoreJoining, AStreamIsBehindNothingUntilEachLaunchIsThere) {
  const Ticket launch = begin(kBlockingStream);
  EXPECT_EQ(begin(kBlockingStream), 0U) << "it gets nothing more";
  program_.launch(kAllGather, kDefaultStream);
  const Ticket younger = begin(kBlockingStream);
  EXPECT_NE(younger, 0U);
  end(younger);
  program_.synchronize(kBlockingStream);
  EXPECT_FALSE(late_seems_over());
  end(launch);
}

TEST_F(CoreJoining, AWaitForTheHostIsNotOverBefore) {
  program_.synchronize(kDefaultStream);
  core().on_host_dependency(kDefaultStream);
  const Ticket launch = begin(kBlockingStream);
  program_.synchronize(kBlockingStream);
  end(launch);
  EXPECT_FALSE(late_seems_over(kCommStream));
  program_.synchronize(kCommStream);
  program_.synchronize(kBlockingStream);
  EXPECT_TRUE(late_seems_over(kCommStream));
}

TEST_F(CoreJoining, AStreamThatIsAboutToWaitForTheHostIsNotBehindTheLegacyOne) {
  core().on_host_dependency(kBlockingStream);
  program_.synchronize(kBlockingStream);
  EXPECT_FALSE(late_seems_over());
}

// What the legacy stream gets from the one is not before the other.
TEST_F(CoreJoining, ALaunchOnTheLegacyStreamTellsOtherStreamsNothingBefore) {
  program_.synchronize(kDefaultStream);
  program_.launch(kAllGather, kBlockingStream);
  const Ticket launch = begin(kDefaultStream);
  EXPECT_NE(launch, 0U);
  program_.launch(kGemm, kOtherBlockingStream);
  program_.synchronize(kOtherBlockingStream);
  end(launch);
  EXPECT_FALSE(late_seems_over(kBlockingStream));
}

TEST_F(CoreJoining, AQuestionAboutTheLegacyStreamIsNoOperationOfIt) {
  program_.synchronize(kDefaultStream);
  program_.launch(kAllGather, kBlockingStream);
  EXPECT_TRUE(core().stream_point(kDefaultStream).any_collective);
  const Ticket launch = begin(kDefaultStream);
  program_.launch(kGemm, kOtherBlockingStream);
  program_.synchronize(kOtherBlockingStream);
  end(launch);
  EXPECT_FALSE(late_seems_over(kBlockingStream));
}

TEST_F(CoreJoining, ALaunchThatWasRefusedPutsItsStreamBehindNothing) {
  end(begin(kBlockingStream), LaunchOutcome::failed);
  program_.synchronize(kBlockingStream);
  EXPECT_FALSE(late_seems_over());
  core().on_synchronized(core().context_point(kContext), program_.now_ns);
  EXPECT_TRUE(late_seems_over()) << "the host has waited for all streams";
}

// As many as are kept at most, and one: until the host has waited for all of the context.
TEST_F(CoreJoining, TooManyAtATimeAreNotFollowed) {
  program_.synchronize(kDefaultStream);
  EXPECT_TRUE(late_seems_over(kCommStream));
  program_.synchronize(kCommStream);
  program_.launch(kAllGather, kDefaultStream);
  for (StreamId i = 0; i < 65; ++i) {
    program_.fake.streams[0xa000 + 16 * i] = {kContext, 0, true};
    begin(0xa000 + 16 * i);
  }
  program_.synchronize(kDefaultStream);
  EXPECT_FALSE(late_seems_over(kCommStream));
  core().on_synchronized(core().context_point(kContext), program_.now_ns);
  EXPECT_TRUE(late_seems_over(kCommStream));
}

/// The short way is left where a stream may come to stand behind more. `kCommStream` holds a collective, behind which the legacy
/// stream is put.
class PassingJoins : public testing::Test {
 protected:
  PassingJoins() : process_(untimed_rules(), 2) {
    passing_now = 1'000'000'000;
    process_.collective();
    process_.compute(kBlockingStream);
    process_.compute(kDefaultStream);
    order(kCommStream, kComputeStream);
    process_.compute(kBlockingStream);
    process_.compute(kDefaultStream);
  }
  void order(StreamId from, StreamId to) {
    process_.core->on_event_record(kJoinedEvent, from, process_.core->before_event_record(kJoinedEvent));
    process_.core->on_stream_wait(to, kJoinedEvent, process_.core->before_wait(kJoinedEvent));
  }
  PassingProcess process_;
};

TEST_F(PassingJoins, OfTheLegacyStreamABlockingOneIsToldTheLongWay) {
  EXPECT_TRUE(process_.compute(kBlockingStream));
  order(kCommStream, kDefaultStream);
  EXPECT_FALSE(process_.compute(kBlockingStream));
  EXPECT_NE(process_.decision.ticket, 0U);
  EXPECT_TRUE(process_.compute(kBlockingStream));
}

TEST_F(PassingJoins, OfABlockingStreamTheLegacyOneIsToldTheLongWay) {
  EXPECT_TRUE(process_.compute(kDefaultStream));
  order(kCommStream, kBlockingStream);
  EXPECT_FALSE(process_.compute(kBlockingStream)) << "which tells the legacy stream";
  EXPECT_FALSE(process_.compute(kDefaultStream));
  EXPECT_NE(process_.decision.ticket, 0U);
  EXPECT_FALSE(process_.compute(kDefaultStream)) << "it has told other blocking streams";
  EXPECT_TRUE(process_.compute(kDefaultStream));
}

// The thread looked whether it may, and then another one put this stream or the legacy one behind more.
class PassingTooLate : public PassingJoins, public testing::WithParamInterface<StreamId> {};
TEST_P(PassingTooLate, PutsNothingBehindMore) {
  PassingThread thread;
  thread.use(process_.core->passed_launches(1));
  LaunchFacts facts = process_.facts(kGemm, kBlockingStream, 4'096);
  facts.thread = &thread;
  process_.core->on_launched(process_.core->on_launch(facts).ticket, LaunchOutcome::ok);
  ASSERT_TRUE(thread.told(process_.gate));
  order(kCommStream, GetParam());
  ASSERT_FALSE(thread.told(process_.gate));
  ASSERT_TRUE(thread.take(process_.gate, {kGemm, facts.grid, facts.block}, kBlockingStream, passing_now));
  const StreamId behind = GetParam() == kBlockingStream ? kDefaultStream : kBlockingStream;
  EXPECT_FALSE(process_.core->stream_point(behind).any_collective);
}
INSTANTIATE_TEST_SUITE_P(OfStreams, PassingTooLate, testing::Values(kBlockingStream, kDefaultStream));

}  // namespace
}  // namespace elbowroom::interposer
