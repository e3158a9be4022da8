#include "interposer/core/core.hpp"

#include <gtest/gtest.h>

#include "fake_platform.hpp"
#include "milliseconds.hpp"

namespace elbowroom::interposer {
namespace {
TEST(Core, LeavesAProgramWithoutCollectivesAlone) {
  for (const Policy policy : {Policy::observe, Policy::priority, Policy::gate, Policy::shape, Policy::automatic}) {
    Program program(rules_of(policy));
    for (int i = 0; i < 100; ++i) {
      const Decision decision = program.launch(kGemm, kComputeStream);
      EXPECT_TRUE(decision.untouched(0));
      EXPECT_EQ(decision.ticket, 0U);
    }
    EXPECT_EQ(program.fake.function_questions, 1);
  }
}

TEST(Core, ObserveChangesNothing) {
  Rules rules = rules_of(Policy::observe);
  rules.timing = false;
  Program program(rules);
  EXPECT_TRUE(program.launch(kAllReduce, kCommStream).untouched(0));
  const Decision compute = program.launch(kGemm, kComputeStream);
  EXPECT_TRUE(compute.in_window);
  EXPECT_TRUE(compute.untouched(0));
}

TEST(Core, GatesTheFirstLaunchOfEachStreamInTheWindow) {
  Program program(rules_of(Policy::gate));
  const Decision collective = program.launch(kAllReduce, kCommStream);
  EXPECT_TRUE(collective.is_collective && collective.priority);
  ASSERT_NE(collective.completion_event, kNoEvent);
  const Decision first = program.launch(kGemm, kComputeStream);
  EXPECT_EQ(first.wait_on, collective.completion_event);
  EXPECT_FALSE(first.priority);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, kNoEvent) << "its stream waited already";
  EXPECT_EQ(program.launch(kGemm, kOtherComputeStream).wait_on, collective.completion_event);
}

TEST(Core, GatesNothingThatIsOrderedOrFinished) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream);
  program.order(kCommStream, kComputeStream);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
  program.synchronize(kCommStream);
  EXPECT_FALSE(program.launch(kGemm, kOtherComputeStream).in_window);
}

TEST(Core, GatesOnlyOnWhatTheDriverTook) {
  Program program(rules_of(Policy::gate));
  const Decision collective = program.core->on_launch(program.facts(kAllReduce, kCommStream));
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, kNoEvent) << "another thread's launch is still on its way";
  program.core->on_launched(collective.ticket, LaunchOutcome::plain_ok);
  const Decision compute = program.launch(kGemm, kComputeStream);
  EXPECT_EQ(compute.wait_on, kNoEvent) << "launched without our event";
  EXPECT_EQ(compute.refusal, Refusal::no_event);
}

TEST(Core, ForgetsACollectiveThatFailed) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream, LaunchOutcome::failed);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
}

TEST(Core, GoesWithoutTheControlThatFailed) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream, LaunchOutcome::relaunched);
  const Decision second = program.launch(kAllReduce, kCommStream, LaunchOutcome::relaunched);
  EXPECT_TRUE(second.is_collective && second.priority);
  EXPECT_EQ(second.completion_event, kNoEvent) << "an older driver may know no such event";
  const Decision third = program.launch(kAllReduce, kCommStream);
  EXPECT_TRUE(third.is_collective);
  EXPECT_FALSE(third.priority);
  EXPECT_EQ(third.refusal, Refusal::passed_through);
  const std::string report = program.report();
  EXPECT_NE(report.find(R"("relaunched":2)"), std::string::npos);
  EXPECT_NE(report.find("AllReduce_Sum_bf16_RING_LL: a launch with a completion event failed"), std::string::npos);
  EXPECT_NE(report.find("AllReduce_Sum_bf16_RING_LL: a launch with a control failed"), std::string::npos);
}

TEST(Core, PassesThroughComputeThatFailedWithAControl) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream);
  EXPECT_NE(program.launch(kGemm, kComputeStream, LaunchOutcome::relaunched).wait_on, kNoEvent);
  const Decision again = program.launch(kGemm, kOtherComputeStream);
  EXPECT_EQ(again.wait_on, kNoEvent);
  EXPECT_EQ(again.refusal, Refusal::passed_through);
}

TEST(Core, LeavesTheProgramsOwnAttributesAlone) {
  Program program(rules_of(Policy::gate));
  LaunchFacts facts = program.facts(kAllReduce, kCommStream);
  facts.sets_priority = facts.sets_completion_event = true;
  const Decision decision = program.launch(facts);
  EXPECT_FALSE(decision.priority);
  EXPECT_EQ(decision.completion_event, kNoEvent);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::no_event);
}

// DDP: the gradients of a bucket are ready when the kernel before ends; the all-reduce and the next kernel may begin together.
TEST(Core, GatesACollectiveThatWaitsForTheSameKernel) {
  Program program(rules_of(Policy::gate));
  program.teach(kAllReduce, kCommStream, 1 * kMs);
  program.teach(kGemm, kComputeStream, 2 * kMs);
  program.launch(kGemm, kComputeStream);
  program.order(kComputeStream, kCommStream);
  const Decision collective = program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, collective.completion_event);
}

// FSDP: the second all-gather queues behind the first.
TEST(Core, NeverGatesAQueuedCollective) {
  Program program(rules_of(Policy::gate));
  program.teach(kAllGather, kCommStream, 1 * kMs);
  program.launch(kAllGather, kCommStream);
  program.launch(kAllGather, kCommStream);
  program.order(kCommStream, kComputeStream);  // of these two, the kernel waits for both
  const Decision first = program.launch(kAllGather, kCommStream);
  program.launch(kAllGather, kCommStream);
  // Of the younger two the first may be waited for: what stands before it stands before the kernel as well.
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, first.completion_event);
  const Decision other = program.launch(kGemm, kOtherComputeStream);
  EXPECT_NE(other.wait_on, kNoEvent) << "the very first began at once";
  EXPECT_NE(other.wait_on, first.completion_event);
}

TEST(Core, EndsAWindowWhenTheCollectiveIsExpectedToHaveEnded) {
  Program program(rules_of(Policy::gate));
  program.teach(kAllReduce, kCommStream, 1 * kMs);
  program.teach(kGemm, kComputeStream, 600'000);
  program.launch(kAllReduce, kCommStream);
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window) << "0 to 0.6 ms";
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window) << "0.6 to 1.2 ms";
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window) << "begins at 1.2 ms";
  program.now_ns += 2 * kMs;
  EXPECT_FALSE(program.launch(kGemm, kOtherComputeStream).in_window) << "the host is past it";
  EXPECT_NE(program.report().find(R"("in_order_only":2)"), std::string::npos);
}

TEST(Core, KnowsNoWindowWithACollectiveThatComesLater) {
  Program program(rules_of(Policy::gate));
  program.teach(kAllReduce, kCommStream, 1 * kMs);
  program.teach(kGemm, kComputeStream, 5 * kMs);
  program.launch(kGemm, kComputeStream);
  program.order(kComputeStream, kCommStream);
  program.launch(kAllReduce, kCommStream);  // 5 to 6 ms
  LaunchFacts early = program.facts(kGemm, kOtherComputeStream);
  EXPECT_FALSE(program.launch(early).in_window) << "0 to 5 ms";
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window) << "5 to 10 ms";
}

TEST(Core, ATimedCollectiveIsFinished) {
  Program program(rules_of(Policy::gate));
  const Decision collective = program.launch(kAllReduce, kCommStream);
  EXPECT_TRUE(collective.time_it);
  program.core->on_timing(collective.ticket, kMs, program.now_ns);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
}

TEST(Core, TimesEachKindOneAtATimeAndOnlyAtFirst) {
  Program program(rules_of(Policy::observe));
  const Decision first = program.launch(kAllReduce, kCommStream);
  EXPECT_TRUE(first.time_it);
  EXPECT_FALSE(program.launch(kAllReduce, kCommStream).time_it) << "the first is not back yet";
  program.core->on_timing_lost(first.ticket);
  int timed = 0;
  for (int i = 0; i < 1'000; ++i) {
    const Decision decision = program.launch(kAllReduce, kCommStream);
    timed += decision.time_it ? 1 : 0;
    if (decision.time_it) { program.core->on_timing(decision.ticket, kMs, program.now_ns); }
  }
  EXPECT_EQ(timed, 5) << "three, and two more of which every 64th is one";
}

TEST(Core, LegacyStreamOrdersBlockingStreams) {
  Program program(rules_of(Policy::observe));
  constexpr StreamId kBlocking = 0x5000;
  const StreamId legacy = legacy_stream(kContext);
  for (const StreamId stream : {kBlocking, legacy, per_thread_stream(kContext, 0)}) {
    program.fake.streams[stream] = {kContext, 0, true};
  }
  program.launch(kAllReduce, kBlocking);
  EXPECT_TRUE(program.launch(kGemm, per_thread_stream(kContext, 0)).in_window);
  EXPECT_FALSE(program.launch(kGemm, legacy).in_window);
  EXPECT_FALSE(program.launch(kGemm, per_thread_stream(kContext, 0)).in_window) << "the legacy stream's kernel came between";
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window) << "does not block";
}

TEST(Core, AWaitMeansTheRecordItSaw) {
  Program program(rules_of(Policy::observe));
  constexpr EventId kEvent = 0x9100;
  program.launch(kAllReduce, kCommStream);
  program.core->on_stream_wait(kComputeStream, kEvent, program.core->before_wait(kEvent));  // never recorded: waits for nothing
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
  program.core->on_event_record(kEvent, kOtherComputeStream, program.core->before_event_record(kEvent));
  program.core->on_stream_wait(kComputeStream, kEvent, program.core->before_wait(kEvent));
  program.core->on_event_record(kEvent, kCommStream, program.core->before_event_record(kEvent));  // again, after the wait
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
  program.core->on_stream_wait(kComputeStream, kEvent, program.core->before_wait(kEvent));
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
}

TEST(Core, ASynchronisationFinishesWhatItBeganWith) {
  Program program(rules_of(Policy::observe));
  program.launch(kAllReduce, kCommStream);
  const SyncPoint point = program.core->stream_point(kCommStream);
  program.launch(kAllReduce, kCommStream);  // by another thread, while this one waits
  program.core->on_synchronized(point, program.now_ns);
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
  program.synchronize(kCommStream);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
}

TEST(Core, AnOldPointFinishesNothingYounger) {
  Program program(rules_of(Policy::observe));
  program.launch(kAllReduce, kCommStream);
  const SyncPoint point = program.core->stream_point(kCommStream);
  program.core->on_synchronized(point, program.now_ns);
  for (int i = 0; i < 64; ++i) { program.launch(kAllReduce, kCommStream); }  // takes every place again
  program.core->on_synchronized(point, program.now_ns);
  program.order(kCommStream, kComputeStream);
  program.launch(kAllReduce, kOtherComputeStream);
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
}

TEST(Core, DevicesAndContextsAreApart) {
  Program program(rules_of(Policy::gate));
  program.fake.streams[0x6000] = {0x8000, 1, false};  // another device
  program.fake.streams[0x7000] = {0x9000, 0, false};  // another context of the same device
  program.launch(kAllReduce, kCommStream);
  EXPECT_FALSE(program.launch(kGemm, 0x6000).in_window);
  const Decision other_context = program.launch(kGemm, 0x7000);
  EXPECT_TRUE(other_context.in_window);
  EXPECT_EQ(other_context.wait_on, kNoEvent);
  EXPECT_EQ(other_context.refusal, Refusal::other_context);
}

TEST(Core, CapturesAreWorldsOfTheirOwn) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream);
  program.core->on_capture_begin(kComputeStream);
  EXPECT_TRUE(program.core->capturing());
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window) << "what is captured does not run beside what runs";
  program.order(kComputeStream, kOtherComputeStream);  // draws the other stream in
  const Decision captured = program.launch(kAllReduce, kOtherComputeStream);
  EXPECT_TRUE(captured.captured);
  EXPECT_FALSE(captured.priority) << "its graph gets that";
  EXPECT_FALSE(captured.time_it);
  const Decision compute = program.launch(kGemm, kComputeStream);
  EXPECT_TRUE(compute.in_window && compute.captured);
  EXPECT_EQ(compute.wait_on, captured.completion_event);
  const GraphFacts held = program.core->on_capture_end(kComputeStream);
  EXPECT_EQ(held.collectives, 1U);
  EXPECT_EQ(held.computes, 2U);
  EXPECT_FALSE(program.core->capturing());
  EXPECT_FALSE(program.launch(kGemm, kOtherComputeStream).captured) << "the capture took all its streams with it";
}

TEST(Core, KeepsItsEventsAwayFromACaptureElsewhere) {
  Program program(rules_of(Policy::gate));
  program.core->on_capture_begin(kOtherComputeStream);
  const Decision collective = program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(collective.completion_event, kNoEvent);
  EXPECT_FALSE(collective.time_it);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, kNoEvent);
}

TEST(Core, AGraphIsOneOperation) {
  Program program(rules_of(Policy::gate));
  program.launch_graph(kCommStream, {2, 5});
  const Decision beside = program.launch(kGemm, kComputeStream);
  EXPECT_TRUE(beside.in_window);
  EXPECT_EQ(beside.wait_on, kNoEvent);
  EXPECT_EQ(beside.refusal, Refusal::no_event);
  program.launch_graph(kOtherComputeStream, {0, 5});
  program.order(kCommStream, kComputeStream);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
}

// Ranks may be coupled by their hosts: the peers of the first come when the compute launch has ended.
TEST(Core, WaitsForNothingBehindACollectiveThatIsNotKnownToBeOver) {
  Program program(rules_of(Policy::gate));
  program.teach(kAllReduce, kCommStream, kMs);
  program.launch(kAllReduce, kCommStream);
  program.now_ns += 10 * kMs;
  const Decision second = program.launch(kAllReduce, kCommStream);
  const Decision compute = program.launch(kGemm, kComputeStream);
  EXPECT_NE(compute.wait_on, second.completion_event) << "the first should have ended, but its peers may be late";
}

TEST(Core, WaitsForNothingBehindACollectiveByCopyEngines) {
  Program program(rules_of(Policy::gate));
  program.core->on_launched(program.core->on_copying_collective(kCommStream, program.now_ns).ticket, LaunchOutcome::plain_ok);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window) << "it holds no SM";
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::queued_collective);
  program.synchronize(kCommStream);
  program.launch(kAllReduce, kCommStream);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, kNoEvent);
}

TEST(Core, WaitsForNothingThatOthersMayLeaveNoRoom) {
  for (const unsigned blocks : {108U, 109U}) {  // 108 + 24 blocks fit on 132 SMs
    Program program(rules_of(Policy::gate));
    LaunchFacts other = program.facts(kAllGather, kOtherComputeStream);
    other.grid = {blocks, 1, 1};
    other.note.ranks = 2;
    program.launch(other);
    const Decision collective = program.launch(kAllReduce, kCommStream);
    EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on == collective.completion_event, blocks == 108);
  }
}

// Between the decision and the driver's answer another thread may launch as many as there are events.
TEST(Core, AnEventThatALaunchIsAboutToWaitForIsNotRecordedAnew) {
  Program program(rules_of(Policy::gate));
  const Decision awaited = program.launch(kAllReduce, kCommStream);
  const Decision waits = program.core->on_launch(program.facts(kGemm, kComputeStream));
  ASSERT_EQ(waits.wait_on, awaited.completion_event);
  for (std::size_t i = 1; i < kEventSlots; ++i) { program.launch(kAllReduce, kCommStream); }
  EXPECT_EQ(program.launch(kAllReduce, kCommStream).completion_event, kNoEvent) << "its turn";
  program.core->on_launched(waits.ticket, LaunchOutcome::ok);
  for (std::size_t i = 1; i < kEventSlots; ++i) { program.launch(kAllReduce, kCommStream); }
  EXPECT_EQ(program.launch(kAllReduce, kCommStream).completion_event, awaited.completion_event);
}

TEST(Core, GivesNoPriorityToCollectivesThatAreAlwaysAlone) {
  Program program(rules_of(Policy::priority));
  program.teach(kAllReduce, kCommStream, kMs);
  int prioritised = 0;
  for (int i = 0; i < 20; ++i) {
    prioritised += program.launch(kAllReduce, kCommStream).priority ? 1 : 0;
    program.synchronize(kCommStream);
  }
  EXPECT_EQ(prioritised, 5) << "of the first eight, three taught the duration";
  program.launch(kAllReduce, kCommStream);
  program.launch(kGemm, kComputeStream);
  EXPECT_TRUE(program.launch(kAllReduce, kCommStream).priority) << "compute was seen beside one";
}

TEST(Core, AsksAgainAfterAModuleWasUnloaded) {
  Program program(rules_of(Policy::gate));
  program.launch(kGemm, kComputeStream);
  program.fake.names[kGemm] = "ncclDevKernel_Broadcast";
  EXPECT_FALSE(program.launch(kGemm, kCommStream).is_collective);
  program.core->on_module_unload();
  EXPECT_TRUE(program.launch(kGemm, kCommStream).is_collective);
}

// Its functions went with it, and the driver may give their addresses to others.
TEST(Core, AsksAgainAfterAContextWasDestroyed) {
  Program program(rules_of(Policy::gate));
  program.launch(kGemm, kComputeStream);
  program.fake.names[kGemm] = "ncclDevKernel_Broadcast";
  program.core->on_context_destroy(kContext);
  EXPECT_TRUE(program.launch(kGemm, kCommStream).is_collective);
}

TEST(Core, AnswersWithoutAPlatform) {
  const auto core = Core::create(Rules{}, Platform{});
  LaunchFacts facts;
  facts.stream = kComputeStream;
  facts.function = kGemm;
  EXPECT_TRUE(core->on_launch(facts).untouched(0));
}

}  // namespace
}  // namespace elbowroom::interposer
