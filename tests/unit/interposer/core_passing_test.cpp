#include <gtest/gtest.h>

#include <string>

#include "passing_process.hpp"

namespace elbowroom::interposer {
namespace {

/// A collective was seen and is over, and the compute stream's last launch was followed.
class PassingProgram : public testing::Test {
 protected:
  PassingProgram() : process(untimed_rules(), 2) {
    passing_now = 1'000'000'000;
    process.collective();
    process.synchronize(kCommStream);
    EXPECT_FALSE(process.compute()) << "the first of its kind";
  }
  PassingProcess process;
};

TEST_F(PassingProgram, IsForWhatWasFollowedOnceOutsideWindows) {
  EXPECT_TRUE(process.compute());
  EXPECT_FALSE(process.launch(kGemm, kComputeStream, 4'095)) << "another grid";
  EXPECT_TRUE(process.launch(kGemm, kComputeStream, 4'095));
  EXPECT_FALSE(process.compute(kOtherComputeStream)) << "another stream, of which the thread was told nothing";
  EXPECT_TRUE(process.compute(kOtherComputeStream));
  EXPECT_FALSE(process.compute(kComputeStream, 1)) << "another thread";
  EXPECT_TRUE(process.compute(kComputeStream, 1));
}

TEST_F(PassingProgram, EndsWithACollectiveAndBeginsOnceItsGateIsSet) {
  process.collective();
  EXPECT_FALSE(process.compute());
  EXPECT_TRUE(process.decision.in_window);
  EXPECT_NE(process.decision.wait_on, kNoEvent);
  EXPECT_TRUE(process.compute()) << "waits already";
  EXPECT_FALSE(process.compute(kOtherComputeStream));
  EXPECT_NE(process.decision.wait_on, kNoEvent);
  EXPECT_TRUE(process.compute(kOtherComputeStream));
  process.synchronize(kCommStream);
  EXPECT_TRUE(process.compute()) << "behind it";
  // Two launches the long way and two by the short one; the last is outside.
  EXPECT_NE(process.report().find(R"("in_window":4,)"), std::string::npos) << process.report();
}

// 108 of 132 SMs are left beside the all-reduce. Whoever needs more waits for it, and what that stream does later does so too.
TEST_F(PassingProgram, IsForWhatIsTooSmallForAGate) {
  process.launch(kElementwise, kComputeStream, 108);
  process.launch(kElementwise, kComputeStream, 109);
  process.collective();
  EXPECT_FALSE(process.launch(kElementwise, kComputeStream, 108));
  EXPECT_EQ(process.decision.refusal, Refusal::small_compute);
  for (int i = 0; i < 3; ++i) { EXPECT_TRUE(process.launch(kElementwise, kComputeStream, 108)); }
  EXPECT_NE(process.report().find(R"("gate: the kernel leaves SMs free":4)"), std::string::npos) << process.report();
  EXPECT_FALSE(process.launch(kElementwise, kComputeStream, 109)) << "its shape is known to pass";
  EXPECT_NE(process.decision.wait_on, kNoEvent);
  EXPECT_TRUE(process.launch(kElementwise, kComputeStream, 109)) << "waits already";
}

// Four collectives are asked about for a launch, the youngest ones. Once one of these is over, the oldest is asked about.
TEST_F(PassingProgram, IsNotForWhatMayBeAskedAboutMore) {
  constexpr StreamId kFirst = 0x6000;
  for (StreamId stream = kFirst; stream < kFirst + 5; ++stream) {
    process.core->on_stream_create(stream, {kContext, 0, false});
    process.launch(kAllGather, stream, stream == kFirst ? 40 : 10);
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(process.launch(kElementwise, kComputeStream, 100));
    EXPECT_EQ(process.decision.refusal, Refusal::small_compute);
  }
  process.synchronize(kFirst + 1);
  EXPECT_FALSE(process.launch(kElementwise, kComputeStream, 100));
  EXPECT_NE(process.decision.wait_on, kNoEvent);
}

// It takes more than SMs hold beside the all-reduce of 120 blocks, so the one of 24 is not asked about again. The mark is one for
// each stream, and another collective may take it.
TEST_F(PassingProgram, IsNotForWhatIsNotAskedAboutForNow) {
  constexpr StreamId kLarge = 0x6000, kSmall = 0x7000;
  for (const StreamId stream : {kLarge, kSmall}) { process.core->on_stream_create(stream, {kContext, 0, false}); }
  process.launch(kAllReduce, kLarge, 120);
  process.compute();
  EXPECT_NE(process.decision.wait_on, kNoEvent);
  process.collective();
  process.compute();
  EXPECT_EQ(process.decision.refusal, Refusal::several_waves);
  process.synchronize(kLarge);
  process.launch(kAllGather, kSmall, 10);
  for (int i = 0; i < 3; ++i) { EXPECT_FALSE(process.launch(kElementwise, kComputeStream, 110)) << "24 and 110 are more than 132"; }
  for (int i = 0; i < 3; ++i) { EXPECT_EQ(process.launch(kElementwise, kComputeStream, 108), i != 0); }
}

// Whatever else is refused meanwhile.
TEST_F(PassingProgram, CountsWhatIsTooSmallAsThat) {
  process.collective();
  for (int i = 0; i < 3; ++i) { process.launch(kElementwise, kComputeStream, 100); }
  process.core->on_host_dependency(kOtherComputeStream);
  for (int i = 0; i < 70; ++i) { process.launch(kElementwise, kComputeStream, 100); }
  EXPECT_NE(process.report().find(R"("refused":{"gate: the kernel leaves SMs free":73})"), std::string::npos) << process.report();
}

// Its thread had looked whether it may before another thread launched the collective.
TEST_F(PassingProgram, DoesNotCallALargeLaunchSmallThatWasLate) {
  PassingThread thread;
  thread.use(process.core->passed_launches(5));
  LaunchFacts facts = process.facts(kGemm, kComputeStream, 4'096);
  facts.thread = &thread;
  process.core->on_launch(facts);
  ASSERT_TRUE(thread.told(process.gate));
  process.collective();
  EXPECT_TRUE(thread.take(process.gate, {facts.function, facts.grid, facts.block}, kComputeStream, passing_now));
  EXPECT_EQ(process.report().find("leaves SMs free"), std::string::npos) << process.report();
}

// What blocking streams do next is behind the wait, and so is what the program puts behind that.
TEST_F(PassingProgram, EndsForBlockingStreamsWithAWaitForTheHostAmongThem) {
  process.collective();
  for (const StreamId stream : {kBlockingStream, kDefaultStream}) { process.compute(stream); }
  process.compute(kBlockingStream);
  EXPECT_TRUE(process.compute(kBlockingStream));
  process.core->on_host_dependency(kDefaultStream);
  EXPECT_FALSE(process.compute(kBlockingStream));
  EXPECT_TRUE(process.compute(kBlockingStream));
}

// The stream seemed to stand behind what the launch was to put before it, and does not.
TEST_F(PassingProgram, EndsWithALaunchThatTheDriverRefuses) {
  process.collective();
  process.compute(kDefaultStream);
  process.outcome = LaunchOutcome::failed;
  EXPECT_FALSE(process.compute(kBlockingStream));
  EXPECT_NE(process.decision.ticket, 0U);
  process.outcome = LaunchOutcome::ok;
  EXPECT_FALSE(process.compute(kBlockingStream));
  EXPECT_TRUE(process.compute(kBlockingStream));
}

// Of two collectives the larger one counts. Each stream has terms of its own.
TEST_F(PassingProgram, IsForWhatIsTooSmallForEachGate) {
  for (const std::uint32_t grid : {100U, 108U}) { process.launch(kElementwise, kComputeStream, grid); }
  process.collective();
  process.launch(kAllGather, kBlockingStream, 32);
  EXPECT_FALSE(process.launch(kElementwise, kComputeStream, 100));
  EXPECT_TRUE(process.launch(kElementwise, kComputeStream, 100));
  EXPECT_FALSE(process.launch(kElementwise, kComputeStream, 108)) << "too large beside the all-gather";
  EXPECT_NE(process.decision.wait_on, kNoEvent);
  EXPECT_FALSE(process.launch(kElementwise, kOtherComputeStream, 100));
  EXPECT_EQ(process.decision.refusal, Refusal::small_compute);
  EXPECT_FALSE(process.launch(kElementwise, kOtherComputeStream, 108));
  EXPECT_NE(process.decision.wait_on, kNoEvent);
}

// The gate is not set as long as its event may not be there.
TEST_F(PassingProgram, IsNotForWhatMayBeGatedLater) {
  const Ticket collective = process.core->on_launch(process.facts(kAllReduce, kCommStream, 24)).ticket;
  EXPECT_FALSE(process.compute());
  EXPECT_EQ(process.decision.refusal, Refusal::no_event);
  EXPECT_FALSE(process.compute());
  process.core->on_launched(collective, LaunchOutcome::ok);
  EXPECT_FALSE(process.compute());
  EXPECT_NE(process.decision.wait_on, kNoEvent);
  EXPECT_TRUE(process.compute());
}

// That a control is refused is counted for each launch.
TEST_F(PassingProgram, IsNotForKernelsThatArePassedThrough) {
  process.collective();
  const Decision gated = process.core->on_launch(process.facts(kGemm, kComputeStream, 4'096));
  process.core->on_launched(gated.ticket, LaunchOutcome::relaunched);
  for (int i = 0; i < 2; ++i) { EXPECT_EQ(process.launch(kElementwise, kComputeStream, 4'096), i == 1); }
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(process.compute()) << "its shape was known to pass";
    EXPECT_EQ(process.decision.refusal, Refusal::passed_through);
  }
}

TEST(CorePassing, IsNotForLaunchesWithACap) {
  Rules rules = untimed_rules(Policy::shape);
  ASSERT_EQ(parse_rules("cap nvjet 2\n", rules), 0U);
  PassingProcess process(rules, 1);
  process.collective();
  for (int i = 0; i < 3; ++i) { EXPECT_FALSE(process.compute()); }
  process.synchronize(kCommStream);
  EXPECT_FALSE(process.compute());
  EXPECT_TRUE(process.compute()) << "outside windows";
  // Its shape is known there. A kernel without a cap passes beside the next collective, and this one does not.
  process.collective();
  for (int i = 0; i < 2; ++i) { EXPECT_EQ(process.launch(kElementwise, kComputeStream, 4'096), i == 1); }
  EXPECT_FALSE(process.compute());
}

TEST_F(PassingProgram, EndsWithWhateverChangesWhatWasTold) {
  const auto expect_end = [&](const char* what, auto change) {
    process.compute();
    EXPECT_TRUE(process.compute()) << what;
    change(*process.core);
    EXPECT_FALSE(process.compute()) << what;
  };
  expect_end("a graph with a collective",
             [](Core& core) { core.after_graph(core.on_graph_launch(kCommStream, {1, 0, false, false}, passing_now), true); });
  process.synchronize(kCommStream);
  expect_end("a module", [](Core& core) { core.on_module_unload(); });
  expect_end("a stream destroyed", [](Core& core) { core.on_stream_destroy(kComputeStream); });
  expect_end("a stream made", [](Core& core) { core.on_stream_create(kComputeStream, {kContext, 0, false}); });
  expect_end("a context", [](Core& core) { core.on_context_destroy(kContext); });
  expect_end("a capture", [](Core& core) { core.on_capture_begin(kOtherComputeStream); });
  EXPECT_FALSE(process.compute()) << "while anything is being captured";
  process.core->on_capture_end(kOtherComputeStream);
}

TEST_F(PassingProgram, IsNotForWhatACallOfNcclLaunches) {
  LaunchFacts facts = process.facts(kGemm, kComputeStream, 7);
  facts.note.communicator = 1;
  PassingThread thread;
  thread.use(process.core->passed_launches(5));
  facts.thread = &thread;
  process.core->on_launch(facts);
  EXPECT_FALSE(thread.told(process.gate));
}

// Sixty-four fit; the next one goes the long way, for which they are read.
TEST_F(PassingProgram, StopsWhereNobodyReads) {
  for (unsigned i = 0; i < PassedLaunches::kMost; ++i) { EXPECT_TRUE(process.compute()) << i; }
  EXPECT_FALSE(process.compute());
  EXPECT_TRUE(process.compute());
  // One before the test, 64, one the long way and one; the all-reduce is in `total` alone.
  EXPECT_NE(process.report().find(R"("total":68,)"), std::string::npos) << process.report();
  EXPECT_NE(process.report().find(R"("launches":67,)"), std::string::npos) << process.report();
}

// In a program without collectives nothing is followed but how often a kernel is launched. The first collective begins that.
TEST(CorePassing, CountsWhereNoCollectiveWasSeen) {
  PassingProcess process(untimed_rules(), 1);
  EXPECT_FALSE(process.compute());
  for (int i = 0; i < 9; ++i) { EXPECT_TRUE(process.compute()); }
  EXPECT_NE(process.report().find(R"("launches":10,)"), std::string::npos) << process.report();
  process.collective();
  process.synchronize(kCommStream);
  EXPECT_FALSE(process.compute()) << "of a kind that is known from now on";
  EXPECT_TRUE(process.compute());
}

// A kind whose duration is being learned is asked about each time: three launches, and every 64th until the times agree.
TEST(CorePassing, WaitsUntilADurationIsLearned) {
  passing_now = 1'000'000'000;
  PassingProcess process(rules_of(Policy::gate), 1);
  process.collective();
  process.synchronize(kCommStream);
  int long_way = 0;
  for (int i = 0; i < 190; ++i) {
    if (process.compute()) { continue; }
    ++long_way;
    if (process.decision.time_it) { process.core->on_timing(process.decision.ticket, 5 * kMicrosecond, passing_now); }
  }
  // Timed are the launches 0, 1, 2, 64 and 128, after which five times agree. That one tells, and so the next one must be asked.
  EXPECT_EQ(long_way, 130);
}

// Compute of 3 ms in three launches, at whose end a collective begins. Without them it would seem to begin now, and compute of
// another stream would wait for it.
TEST(CorePassing, DelaysWhatWaitsForIt) {
  for (const unsigned threads : {0U, 2U}) {
    passing_now = 1'000'000'000;
    PassingProcess process(rules_of(Policy::gate), threads);
    for (int i = 0; i < 3; ++i) { process.compute(); }  // of no kind yet
    process.collective();
    process.synchronize(kCommStream);
    for (int i = 0; i < 200; ++i) {
      process.compute();
      if (process.decision.time_it) { process.core->on_timing(process.decision.ticket, 1'000 * kMicrosecond, passing_now); }
      process.synchronize(kComputeStream);
      passing_now += 2'000 * kMicrosecond;
    }
    for (int i = 0; i < 3; ++i) { EXPECT_EQ(process.compute(), threads != 0); }
    process.core->on_event_record(0x9000, kComputeStream, process.core->before_event_record(0x9000));
    process.core->on_stream_wait(kCommStream, 0x9000, process.core->before_wait(0x9000));
    process.collective();
    process.compute(kOtherComputeStream);
    EXPECT_EQ(process.decision.refusal, Refusal::late_collective) << threads;
  }
}

}  // namespace
}  // namespace elbowroom::interposer
