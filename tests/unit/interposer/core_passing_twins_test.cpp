#include <gtest/gtest.h>

#include <array>
#include <random>
#include <utility>

#include "passing_process.hpp"

namespace elbowroom::interposer {
namespace {

/// Calls at random, of one process that takes the short way where it can and of one that never does.
class Twins {
 public:
  Twins(const Rules& rules, std::uint64_t seed) : random_(seed), quick_(rules, 3), slow_(rules, 0) {}

  void run(int calls) {
    for (int i = 0; i < calls && !testing::Test::HasFailure(); ++i) { call(i); }
    EXPECT_EQ(quick_.report(), slow_.report());
  }
  int passed = 0, in_window = 0, windows_passed = 0, small_passed = 0, gated = 0, timed = 0;

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
    const bool is_small = passes && slow.refusal == Refusal::small_compute;
    EXPECT_TRUE(is_small || quick.refusal == slow.refusal) << at;
    small_passed += is_small ? 1 : 0;
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
      const auto grid = static_cast<std::uint32_t>(below(3) == 0 ? 54 * (1 + below(3)) : 4'096 * (1 + below(3)));
      const std::uint64_t burst = 1 + below(dice < 3 ? 200 : 6);
      const FunctionId function = below(3) == 0 ? kElementwise : kGemm;
      for (std::uint64_t i = 0; i < burst && !testing::Test::HasFailure(); ++i) { launch(at, function, compute, grid); }
    } else if (dice < 66) {
      launch(at, below(4) == 0 ? kAllGather : kAllReduce, kCommStream, 24);
    } else if (dice < 74) {
      both([&](Core& core) { core.on_event_record(event, stream, core.before_event_record(event)); });
    } else if (dice < 82) {
      both([&](Core& core) { core.on_stream_wait(stream, event, core.before_wait(event)); });
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
      both([&](Core& core) { core.after_graph(core.on_graph_launch(kCommStream, {1, 2, false, false}, passing_now), true); });
    } else if (dice < 12) {
      both([&](Core& core) {
        core.on_host_dependency(stream);
        core.on_synchronized(core.stream_point(stream), passing_now);
      });
    } else if (dice < 13) {
      both([&](Core& core) { core.on_context_destroy(kContext); });
    } else if (dice < 16) {
      both([&](Core& core) { core.on_host_dependency(stream); });
    } else if (dice < 18) {
      both([&](Core& core) { unplaced_ ? core.end_unplaced() : core.begin_unplaced(); });
      unplaced_ = !unplaced_;
    } else if (dice < 22) {
      for (PassingProcess* process : {&quick_, &slow_}) { process->programmatic(kElementwise, stream, 400); }
    } else if (dice < 26) {
      launch(-1, kAllGather, kBlockingStream, 10);
    }
  }

  std::mt19937_64 random_;
  std::uint64_t over_ = 0;  ///< a step whose time was not told yet
  bool gates_ = false;      ///< something was gated in the step
  bool unplaced_ = false;   ///< something runs that is ordered by nothing
  PassingProcess quick_, slow_;
};

TEST(PassingTwins, DecideAlike) {
  int passed = 0, in_window = 0, windows_passed = 0, small_passed = 0, gated = 0, timed = 0;
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
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
    small_passed += twins.small_passed;
    gated += twins.gated;
    timed += twins.timed;
  }
  EXPECT_GT(passed, 1'000);
  EXPECT_GT(in_window, 500);
  EXPECT_GT(windows_passed, 200);
  EXPECT_GT(small_passed, 50);
  EXPECT_GT(gated, 50);
  EXPECT_GT(timed, 20);
}

}  // namespace
}  // namespace elbowroom::interposer
