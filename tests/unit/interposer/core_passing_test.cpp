#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fake_platform.hpp"
#include "interposer/core/passing.hpp"

namespace elbowroom::interposer {
namespace {

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr FunctionId kElementwise = 4;
constexpr StreamId kBlockingStream = 0x5000;
constexpr StreamId kDefaultStream = legacy_stream(kContext);

std::uint64_t passing_now = 0;
HostTime passing_clocks() { return {passing_now, passing_now}; }

/// A process whose hooks try the short way first, with as many threads as asked for; none: they always go the long way.
class PassingProcess {
 public:
  PassingProcess(const Rules& rules, unsigned threads) : threads_(threads) {
    fake.names = {{kGemm, "nvjet_sm90_gemm"},
                  {kElementwise, "elementwise_kernel"},
                  {kAllReduce, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
                  {kAllGather, "ncclDevKernel_AllGather_RING_LL"}};
    for (const StreamId stream : {kComputeStream, kCommStream, kOtherComputeStream}) {
      fake.streams[stream] = {kContext, 0, false};
    }
    fake.streams[kBlockingStream] = fake.streams[kDefaultStream] = {kContext, 0, true};
    fake.pass = &gate;
    fake.host_time = &passing_clocks;
    core = Core::create(rules, fake.platform());
    for (unsigned i = 0; i < threads; ++i) { threads_[i].use(core->passed_launches(i)); }
  }

  [[nodiscard]] LaunchFacts facts(FunctionId function, StreamId stream, std::uint32_t grid) const {
    LaunchFacts facts;
    facts.function = function;
    facts.stream = stream;
    facts.grid = {grid, 1, 1};
    facts.block = {512, 1, 1};
    facts.host_time_ns = passing_now;
    return facts;
  }
  /// Whether the launch took the short way; otherwise `decision` says what was decided.
  bool launch(FunctionId function, StreamId stream, std::uint32_t grid, unsigned thread = 0) {
    LaunchFacts asked = facts(function, stream, grid);
    decision = Decision{};
    if (core->leaves_alone(function)) { return false; }
    if (!threads_.empty()) {
      asked.thread = &threads_[thread];
      const LaunchShape shape{function, asked.grid, asked.block, asked.dynamic_shared, asked.cluster};
      if (threads_[thread].told(gate) && threads_[thread].take(gate, shape, stream, passing_now)) { return true; }
    }
    decision = core->on_launch(asked);
    core->on_launched(decision.ticket, LaunchOutcome::ok);
    return false;
  }
  bool compute(StreamId stream = kComputeStream, unsigned thread = 0) { return launch(kGemm, stream, 4'096, thread); }
  void collective(StreamId stream = kCommStream) { launch(kAllReduce, stream, 24); }
  void synchronize(StreamId stream) const { core->on_synchronized(core->stream_point(stream), passing_now); }
  [[nodiscard]] std::string report() const { return report_of(*core); }

  FakePlatform fake;
  PassGate gate;
  std::unique_ptr<Core> core;
  Decision decision;

 private:
  std::vector<PassingThread> threads_;
};

/// Durations are not learned, so that each kind of launch may pass from its second one on.
Rules untimed_rules(Policy policy = Policy::gate) {
  Rules rules = rules_of(policy);
  rules.timing = false;
  return rules;
}

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
  expect_end("a graph with a collective", [](Core& core) { core.on_graph_launch(kCommStream, {1, 0, false, false}, passing_now); });
  process.synchronize(kCommStream);
  expect_end("a module", [](Core& core) { core.on_module_unload(); });
  expect_end("a stream destroyed", [](Core& core) { core.on_stream_destroy(kComputeStream); });
  expect_end("a stream made", [](Core& core) { core.on_stream_create(kComputeStream, {kContext, 0, false}); });
  expect_end("a context", [](Core& core) { core.on_context_destroy(kContext); });
  expect_end("a capture", [](Core& core) { core.on_capture_begin(kOtherComputeStream); });
  EXPECT_FALSE(process.compute()) << "while anything is being captured";
  process.core->on_capture_end(kOtherComputeStream);
  expect_end("a fork", [](Core& core) { core.after_fork_in_child(); });
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

TEST_F(PassingProgram, ForgetsInAChildWhatTheParentLaunched) {
  EXPECT_TRUE(process.compute());
  process.core->after_fork_in_child();
  EXPECT_NE(process.report().find(R"("total":0,)"), std::string::npos) << process.report();
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
    process.core->on_stream_wait(kCommStream, 0x9000, process.core->event_records(0x9000));
    process.collective();
    process.compute(kOtherComputeStream);
    EXPECT_EQ(process.decision.refusal, Refusal::late_collective) << threads;
  }
}

/// Calls at random, of one process that takes the short way where it can and of one that never does.
class Twins {
 public:
  Twins(const Rules& rules, std::uint64_t seed) : random_(seed), quick_(rules, 3), slow_(rules, 0) {}

  void run(int calls) {
    for (int i = 0; i < calls && !testing::Test::HasFailure(); ++i) { call(i); }
    EXPECT_EQ(quick_.report(), slow_.report());
  }
  int passed = 0, in_window = 0, windows_passed = 0, gated = 0, timed = 0;

 private:
  static constexpr std::array<StreamId, 5> kStreams = {kComputeStream, kOtherComputeStream, kCommStream, kBlockingStream,
                                                       kDefaultStream};

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  template <class Call>
  void both(Call call) {
    call(*quick_.core);
    call(*slow_.core);
  }

  void launch(int at, FunctionId function, StreamId stream, std::uint32_t grid) {
    ++passing_now;  // of what several threads launch at the same moment, any may be the first
    const bool passes = quick_.launch(function, stream, grid, static_cast<unsigned>(below(8)) % 3);
    slow_.launch(function, stream, grid);
    const Decision& quick = quick_.decision;
    const Decision& slow = slow_.decision;
    passed += passes ? 1 : 0;
    in_window += slow.in_window ? 1 : 0;
    gated += slow.wait_on != kNoEvent ? 1 : 0;
    gates_ = slow.step == 0 && (gates_ || slow.wait_on != kNoEvent);
    EXPECT_EQ(quick.ticket, slow.ticket) << at;
    EXPECT_TRUE(passes || quick.in_window == slow.in_window) << at;
    windows_passed += passes && slow.in_window ? 1 : 0;
    EXPECT_EQ(quick.wait_on, slow.wait_on) << at;
    EXPECT_EQ(quick.completion_event, slow.completion_event) << at;
    EXPECT_EQ(quick.priority, slow.priority) << at;
    EXPECT_EQ(quick.time_it, slow.time_it) << at;
    EXPECT_EQ(quick.captured, slow.captured) << at;
    EXPECT_EQ(quick.step, slow.step) << at;
    EXPECT_EQ(quick.refusal, slow.refusal) << at;
    EXPECT_TRUE(quick.dynamic_shared == slow.dynamic_shared || (passes && slow.dynamic_shared == 0)) << at;
    if (slow.time_it) {
      ++timed;
      const std::uint64_t nanoseconds = (function == kGemm          ? 20
                                         : function == kElementwise ? 7
                                                                    : 400) *
                                        kMicrosecond * (1 + grid / 8'192);
      both([&](Core& core) { core.on_timing(slow.ticket, nanoseconds, passing_now); });
    }
    if (slow.step > 1) { over_ = slow.step - 1; }
  }

  // Times of steps come when the program asks the driver for them, which may be in the midst of a window.
  void tell_step() {
    const std::uint64_t step = std::exchange(over_, 0);
    if (step == 0) { return; }
    const std::uint64_t nanoseconds = ((gates_ ? 300 : 450) + below(100)) * kMicrosecond;  // `auto` may choose the gate
    both([&](Core& core) { core.on_step_time(step, nanoseconds); });
  }

  // Bursts of compute, as programs have them, with other things in between.
  void call(int at) {
    passing_now += below(20) * kMicrosecond;
    if (below(4) == 0) { tell_step(); }
    const std::uint64_t dice = below(100);
    const StreamId stream = kStreams[below(kStreams.size())];
    const EventId event = 0x9000 + below(3);
    if (dice < 60) {
      const StreamId compute = kStreams[below(2) * below(5)];
      const auto grid = static_cast<std::uint32_t>(4'096 * (1 + below(3)));
      const std::uint64_t burst = 1 + below(dice < 3 ? 200 : 6);
      const FunctionId function = below(3) == 0 ? kElementwise : kGemm;
      for (std::uint64_t i = 0; i < burst && !testing::Test::HasFailure(); ++i) { launch(at, function, compute, grid); }
    } else if (dice < 66) {
      launch(at, below(4) == 0 ? kAllGather : kAllReduce, kCommStream, 24);
    } else if (dice < 74) {
      both([&](Core& core) { core.on_event_record(event, stream, core.before_event_record(event)); });
    } else if (dice < 82) {
      both([&](Core& core) { core.on_stream_wait(stream, event, core.event_records(event)); });
    } else if (dice < 91) {
      both([&](Core& core) { core.on_synchronized(core.stream_point(stream), passing_now); });
    } else if (dice < 94) {
      both([&](Core& core) { core.on_synchronized(core.context_point(kContext), passing_now); });
    } else {
      rarely(stream);
    }
  }

  void rarely(StreamId stream) {
    const std::uint64_t dice = below(40);
    if (dice < 2) {
      both([&](Core& core) { core.on_module_unload(); });
    } else if (dice < 4 && stream != kDefaultStream) {
      both([&](Core& core) { core.on_stream_destroy(stream); });
    } else if (dice < 6 && stream != kDefaultStream) {
      both([&](Core& core) { core.on_stream_create(stream, quick_.fake.streams[stream]); });
    } else if (dice < 8 && stream != kDefaultStream) {
      both([&](Core& core) {
        core.on_capture_begin(stream);
        core.on_capture_end(stream);
      });
    } else if (dice < 10) {
      both([&](Core& core) { core.on_graph_launch(kCommStream, {1, 2, false, false}, passing_now); });
    } else if (dice < 12) {
      both([&](Core& core) {
        core.on_host_dependency(stream);
        core.on_synchronized(core.stream_point(stream), passing_now);
      });
    } else if (dice < 13) {
      both([&](Core& core) { core.on_context_destroy(kContext); });
    }
  }

  std::mt19937_64 random_;
  std::uint64_t over_ = 0;  ///< a step whose time was not told yet
  bool gates_ = false;      ///< something was gated in the step
  PassingProcess quick_, slow_;
};

TEST(CorePassing, ChangesNoDecision) {
  int passed = 0, in_window = 0, windows_passed = 0, gated = 0, timed = 0;
  for (std::uint64_t seed = 0; seed < 8 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    passing_now = 1'000'000'000;
    Rules rules = rules_of(seed % 3 == 0 ? Policy::automatic : Policy::gate);
    rules.timing = seed % 2 == 0;
    if (seed % 4 == 1) {
      rules.policy = Policy::shape;
      ASSERT_EQ(parse_rules("cap elementwise 2\n", rules), 0U);
    }
    Twins twins(rules, seed);
    twins.run(1'200);
    passed += twins.passed;
    in_window += twins.in_window;
    windows_passed += twins.windows_passed;
    gated += twins.gated;
    timed += twins.timed;
  }
  EXPECT_GT(passed, 1'000);
  EXPECT_GT(in_window, 500);
  EXPECT_GT(windows_passed, 200);
  EXPECT_GT(gated, 50);
  EXPECT_GT(timed, 20);
}

}  // namespace
}  // namespace elbowroom::interposer
