#include "interposer/core/core.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fake_platform.hpp"

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
    EXPECT_TRUE(program.fake.leaves_alone(kGemm, 4'096, kComputeStream));
  }
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
  program.finish(kCommStream);
  EXPECT_FALSE(program.launch(kGemm, kOtherComputeStream).in_window) << "it has ended";
}

// A begin may mean the end. Watched are 1, 2 and 4: each that shows nothing doubles the next. The fourth's comes before its end.
TEST(Core, GatesWhereABeginWasSeenBeforeItsEnd) {
  constexpr std::array<int, 5> kWatched{1, 2, 2, 3, 3};
  Program program(rules_of(Policy::gate), {}, true);
  for (std::size_t collective = 1; collective <= 5; ++collective) {
    const Decision launched = program.launch(kAllReduce, kCommStream);
    const Decision compute = program.launch(kGemm, kComputeStream);
    EXPECT_EQ(compute.refusal, collective < 5 ? Refusal::unseen_begin : Refusal::none) << collective;
    EXPECT_EQ(compute.wait_on, collective < 5 ? kNoEvent : launched.completion_event) << collective;
    program.now_ns += 100'000;
    EXPECT_EQ(program.fake.begins_watched, kWatched[collective - 1]);
    program.fake.tells_begins = collective == 4;
    program.finish(kCommStream);
  }
}

TEST(Core, GatesOnlyOnWhatTheDriverTook) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream, LaunchOutcome::failed);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
  const Decision collective = program.core->on_launch(program.facts(kAllReduce, kCommStream));
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, kNoEvent) << "another thread's launch is still on its way";
  program.tell(collective.ticket, kCommStream, LaunchOutcome::plain_ok);
  const Decision compute = program.launch(kGemm, kComputeStream);
  EXPECT_EQ(compute.wait_on, kNoEvent) << "launched without our event";
  EXPECT_EQ(compute.refusal, Refusal::no_event);
}

TEST(Core, GoesWithoutTheControlThatFailed) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream, LaunchOutcome::relaunched);
  const Decision second = program.launch(kAllReduce, kCommStream, LaunchOutcome::relaunched);
  EXPECT_TRUE(second.is_collective && second.priority);
  EXPECT_EQ(second.completion_event, kNoEvent) << "an older driver may know no such event";
  const Decision third = program.launch(kAllReduce, kCommStream);
  EXPECT_TRUE(third.is_collective && !third.priority);
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
  program.launch(kGemm, kComputeStream);
  program.order(kComputeStream, kCommStream);
  const Decision collective = program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, collective.completion_event);
  program.order(kCommStream, kComputeStream);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window) << "it stands behind the collective";
}

// FSDP: an all-gather queues behind another. Its begin may be waited for by what is behind the other, or once that is over.
TEST(Core, NeverGatesAQueuedCollective) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllGather, kCommStream);
  program.order(kCommStream, kComputeStream);
  const Decision second = program.launch(kAllGather, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, second.completion_event);
  EXPECT_EQ(program.launch(kGemm, kOtherComputeStream).refusal, Refusal::queued_collective);
  program.finish(kCommStream);
  const Decision third = program.launch(kAllGather, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kOtherComputeStream).wait_on, third.completion_event);
}

// The end of the one before is asked for when the launch depends on it, however lately ends were asked for.
TEST(Core, AsksForTheEndThatAGateDependsOn) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllGather, kCommStream);
  program.launch(kGemm, kOtherComputeStream);
  for (std::atomic<bool>& each : program.fake.ended) { each = true; }
  const Decision second = program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, second.completion_event);
}

TEST(Core, WaitsForNothingBesideACollectiveOfAnotherStream) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllGather, kOtherComputeStream);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::queued_collective);
  program.finish(kOtherComputeStream);
  const Decision next = program.launch(kAllReduce, kCommStream);
  EXPECT_NE(program.launch(kGemm, kComputeStream).wait_on, next.completion_event) << "the first of its stream is not over";
  program.order(kCommStream, kComputeStream);
  const Decision last = program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, last.completion_event);
}

// What graphs, copies and waits for the host hold nobody knows. They are a collective each.
TEST(Core, WaitsForNothingBehindWhatIsUnknown) {
  for (const Core::Unknown what : {Core::Unknown::graph, Core::Unknown::wait}) {
    for (const StreamId stream : {kCommStream, kOtherComputeStream}) {
      Program program(rules_of(Policy::gate));
      program.launch_unknown(stream, what);
      EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::no_event);
      program.launch(kAllReduce, kCommStream);
      EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::queued_collective);
      program.finish(stream);
      program.launch(kAllReduce, kCommStream);
      program.finish(kCommStream);
      const Decision collective = program.launch(kAllReduce, kCommStream);
      EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on, collective.completion_event);
    }
  }
}

TEST(Core, GatesNothingWhileSomethingIsCaptured) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream);
  program.core->on_capture_begin();
  EXPECT_TRUE(program.core->capturing());
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::other_capture);
  program.core->on_capture_end();
  EXPECT_FALSE(program.core->capturing());
  EXPECT_NE(program.launch(kGemm, kOtherComputeStream).wait_on, kNoEvent);
}

TEST(Core, DevicesAndContextsAreApart) {
  Program program(rules_of(Policy::gate));
  program.fake.streams[0x6000] = {0x8000, 1};  // another device
  program.fake.streams[0x7000] = {0x9000, 0};  // another context of the same device
  program.launch(kAllReduce, kCommStream);
  EXPECT_FALSE(program.launch(kGemm, 0x6000).in_window);
  EXPECT_EQ(program.launch(kGemm, 0x7000).refusal, Refusal::other_context);
}

TEST(Core, AWaitMeansTheRecordItSaw) {
  Program program(rules_of(Policy::gate));
  constexpr EventId kEvent = 0x9100;
  program.launch(kAllReduce, kCommStream);
  program.wait(kComputeStream, kEvent);  // never recorded: waits for nothing
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
  program.record(kEvent, kOtherComputeStream);
  program.wait(kComputeStream, kEvent);
  program.record(kEvent, kCommStream);  // again, after the wait
  EXPECT_TRUE(program.launch({program.facts(kGemm, kComputeStream)}).in_window);
  program.wait(kComputeStream, kEvent);
  EXPECT_FALSE(program.launch(kGemm, kComputeStream).in_window);
}

// The driver may take calls of two threads in either order.
TEST(Core, OfTwoRecordsAtOnceNothingIsKnown) {
  Program program(rules_of(Policy::gate));
  Core& core = *program.core;
  constexpr EventId kEvent = 0x9100;
  program.launch(kAllReduce, kCommStream);
  for (const bool within : {true, false}) {
    const RecordMark first = core.before_record(kEvent, kCommStream);
    const RecordMark second = core.before_record(kEvent, kOtherComputeStream);
    core.after_record(kEvent, within ? second : first, true);
    core.after_record(kEvent, within ? first : second, true);
    if (within) { program.wait(kComputeStream, kEvent); }
  }
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
  const WaitMark begun = core.before_wait(kEvent);
  program.record(kEvent, kCommStream);
  core.after_wait(kComputeStream, kEvent, begun);
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window) << "recorded anew while the wait was under way";
}

// A stream gets the handle of one that was destroyed. What that one waited for is no matter of it.
TEST(Core, AStreamOfAnOldHandleIsANewOne) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllReduce, kCommStream);
  program.order(kCommStream, kComputeStream);
  program.core->on_stream_destroy(kComputeStream);
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).in_window);
  program.core->on_stream_destroy(kCommStream);
  EXPECT_TRUE(program.launch(kGemm, kOtherComputeStream).in_window) << "what a destroyed stream holds still runs";
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

// The end event of a collective is recorded anew by the one that takes its slot.
TEST(Core, NoEndIsTakenForThatOfAnother) {
  Program program(rules_of(Policy::gate));
  program.launch(kAllGather, kOtherComputeStream);
  for (std::size_t i = 1; i <= kEventSlots; ++i) { program.launch(kAllReduce, kCommStream); }
  program.finish(kCommStream);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::queued_collective);
}

TEST(Core, AsksAgainAfterAModuleWasUnloaded) {
  Program program(rules_of(Policy::gate));
  program.launch(kGemm, kComputeStream);
  program.fake.names[kGemm] = "ncclDevKernel_Broadcast";
  EXPECT_FALSE(program.launch(kGemm, kCommStream).is_collective);
  program.core->on_module_unload();
  EXPECT_FALSE(program.fake.leaves_alone(kGemm, 1, kCommStream));
  EXPECT_TRUE(program.launch(kGemm, kCommStream).is_collective);
}

// 1,023 kernels find room beside the one that stands for those that do not.
TEST(Core, GatesNothingOnceACollectiveOrAWaitForTheHostFindsNoRoom) {
  for (const char* late : {"_ZN4c10d4cuda6detail14kernel_barrierEPim", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", "plain"}) {
    Program program(rules_of(Policy::gate));
    constexpr FunctionId kFirst = 1'000, kLate = 9'000;
    program.launch(kAllReduce, kCommStream);
    program.launch(kGemm, kComputeStream);
    program.finish(kCommStream);
    for (FunctionId i = 0; i < 1'100; ++i) {
      program.fake.names[kFirst + i] = "kernel_" + std::to_string(i);
      program.launch(kFirst + i, kComputeStream);
    }
    program.fake.names[kLate] = late;
    program.launch(kLate, kOtherComputeStream);
    const bool counts = std::string(late) != "plain";
    EXPECT_EQ(program.launch(kAllReduce, kCommStream).completion_event == kNoEvent, counts) << late;
    EXPECT_EQ(program.launch(kGemm, kComputeStream).wait_on == kNoEvent, counts) << late;
  }
}

// Most launches go on after three reads. They are counted.
TEST(Core, LeavesAloneWhatNeedsNoQuestion) {
  Program program(rules_of(Policy::gate));
  EXPECT_FALSE(program.fake.leaves_alone(kGemm, 4'096, kComputeStream)) << "not met yet";
  program.launch(kGemm, kComputeStream);
  EXPECT_TRUE(program.fake.leaves_alone(kGemm, 4'096, kComputeStream));
  program.launch(kAllReduce, kCommStream);
  EXPECT_FALSE(program.fake.leaves_alone(kGemm, 109, kComputeStream)) << "109 + 24 blocks do not fit on 132 SMs";
  EXPECT_TRUE(program.fake.leaves_alone(kGemm, 108, kComputeStream));
  program.launch(kGemm, kComputeStream);
  EXPECT_FALSE(program.fake.leaves_alone(kGemm, 4'096, kOtherComputeStream)) << "which has not waited yet";
  program.launch(kGemm, kComputeStream);
  EXPECT_TRUE(program.fake.leaves_alone(kGemm, 4'096, kComputeStream)) << "nothing is left to wait for";
  program.launch(kAllReduce, kCommStream);
  EXPECT_FALSE(program.fake.leaves_alone(kGemm, 4'096, kComputeStream));
  EXPECT_FALSE(program.fake.leaves_alone(kAllReduce, 1, kCommStream));
  EXPECT_NE(program.report().find(R"("launches":{"total":8)"), std::string::npos) << program.report();
}

TEST(Core, AnswersWithoutAPlatform) {
  FastPath fast_path;
  const auto core = Core::create(Rules{}, Platform{}, fast_path);
  LaunchFacts facts;
  facts.stream = kComputeStream;
  facts.function = kGemm;
  EXPECT_TRUE(core->on_launch(facts).untouched(0));
}

}  // namespace
}  // namespace elbowroom::interposer
