#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_platform.hpp"
#include "interposer/core/passing.hpp"

namespace elbowroom::interposer {
namespace {

std::atomic<std::uint64_t> passing_moment{1};
PassGate passing_threads_gate;

/// What a thread's hooks do; its launches are of seven grids.
void launch_often(Core& core, unsigned number, int launches, std::atomic<int>& passed) {
  PassingThread thread;
  thread.use(core.passed_launches(number));
  for (int i = 0; i < launches; ++i) {
    LaunchFacts facts;
    facts.function = kGemm;
    facts.stream = 0x10'0000 + StreamId{number} * 64;
    facts.grid = {100 + static_cast<std::uint32_t>(i % 7), 1, 1};
    facts.block = {64, 1, 1};
    facts.host_time_ns = ++passing_moment;
    facts.thread = &thread;
    const LaunchShape shape{facts.function, facts.grid, facts.block};
    if (thread.told(passing_threads_gate) && thread.take(passing_threads_gate, shape, facts.stream, facts.host_time_ns)) {
      ++passed;
    } else {
      core.on_launched(core.on_launch(facts).ticket, LaunchOutcome::ok);
    }
    if (i % 1'000 == 999) { core.on_module_unload(); }
    if (i % 300 == 0) { core.on_event_record(0x9000 + number, facts.stream, core.before_event_record(0x9000 + number)); }
  }
}

// Three threads, and three later ones under their numbers, beside collectives that end what they were told: each launch counts
// once.
TEST(CorePassingThreads, LaunchesCountOnce) {
  constexpr int kLaunches = 4'000;
  constexpr int kCollectives = 200;
  FakePlatform fake;
  fake.names = {{kGemm, "nvjet_sm90_gemm"}, {kAllReduce, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"}};
  fake.pass = &passing_threads_gate;
  fake.host_time = [] { return HostTime{passing_moment.load(), passing_moment.load()}; };
  Rules rules = rules_of(Policy::gate);
  rules.timing = false;
  const std::unique_ptr<Core> core = Core::create(rules, fake.platform());
  std::atomic<int> passed = 0;
  for (int generation = 0; generation < 2; ++generation) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; ++i) {
      threads.emplace_back([&core, &passed, i] { launch_often(*core, i, kLaunches, passed); });
    }
    for (int i = 0; i < kCollectives; ++i) {
      LaunchFacts facts;
      facts.function = kAllReduce;
      facts.stream = kCommStream;
      facts.host_time_ns = ++passing_moment;
      core->on_launched(core->on_launch(facts).ticket, LaunchOutcome::ok);
      core->on_synchronized(core->stream_point(kCommStream), passing_moment);
      std::this_thread::yield();
    }
    for (std::thread& thread : threads) { thread.join(); }
  }
  const std::string report = report_of(*core);
  EXPECT_NE(report.find(R"("total":)" + std::to_string(2 * (3 * kLaunches + kCollectives)) + ","), std::string::npos) << report;
  EXPECT_NE(report.find(R"("launches":)" + std::to_string(2 * 3 * kLaunches) + ","), std::string::npos) << report;
  EXPECT_GT(passed, 0);
}

}  // namespace
}  // namespace elbowroom::interposer
