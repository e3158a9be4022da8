#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "fake_platform.hpp"
#include "interposer/core/ab_trial.hpp"

namespace elbowroom::interposer {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 3'000;

/// What one thread of a training program does, with a stream of its own and the communication stream of all.
void work(Program& program, int thread) {
  Core& core = *program.core;
  const StreamId own = 0x10'0000 + static_cast<StreamId>(thread) * 64;
  const EventId event = 0x20'0000 + static_cast<EventId>(thread % 2) * 64;  // two threads each share one
  for (int i = 0; i < kRounds; ++i) {
    program.launch(kGemm, own);
    program.record(event, own);
    program.wait(kCommStream, event);
    const Decision collective = core.on_launch(program.facts(kAllReduce, kCommStream));
    const EventSlot slot = core.on_launched(collective.ticket, LaunchOutcome::ok);
    if (slot != kNoEvent) { core.on_end_recorded(collective.ticket, true); }
    if (slot != kNoEvent && i % 4 == 0) { program.fake.ended[slot] = true; }
    program.launch(kGemm, own);
    if (i % 64 == 0) {
      core.on_capture_begin();
      program.launch(kGemm, own);
      core.on_capture_end();
      core.on_stream_destroy(own);
      core.on_event_destroy(event);
      core.on_module_unload();
    }
    if (i % 512 == 0) { EXPECT_FALSE(program.report().empty()); }
    (void)core.capturing();
  }
}

TEST(CoreThreads, StateTheirFactsAtOnce) {
  Program program(rules_of(Policy::gate));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) { threads.emplace_back(work, std::ref(program), thread); }
  for (std::thread& thread : threads) { thread.join(); }
  const std::string total = R"("launches":{"total":)" + std::to_string(kThreads * (3 * kRounds + (kRounds + 63) / 64));
  EXPECT_NE(program.report().find(total), std::string::npos);
}

TEST(CoreThreads, LaunchWhileARestBeginsAndEnds) {
  Program program(rules_of(Policy::automatic));
  Core& core = *program.core;
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> launches = 0, alone_launches = 0;
  const auto compute = [&](StreamId own, EventId event) {
    for (std::uint64_t i = 0; !stop; ++i) {
      const bool alone = program.fake.leaves_alone(kGemm, 4'096, own);
      if (!alone) { program.launch(kGemm, own); }
      alone_launches += alone ? 1 : 0;
      ++launches;
      program.record(event, own);
      program.wait(own, event);
      if (i % 1'024 == 0) { core.on_module_unload(); }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back(compute, 0x10'0000 + thread * 64, 0x20'0000 + thread * 64);
  }
  // Steps that all take no time: comparisons end with nothing gained, rests begin, and end with the next comparison or by a
  // disturbance.
  for (unsigned step = 0; step < 3 * (AbTrial::kRecheck + AbTrial::kTurns * AbTrial::kTurn); ++step) {
    for (int i = 0; i < 16; ++i) {
      static_cast<void>(core.on_launched(core.on_launch(program.facts(kAllReduce, kCommStream)).ticket, LaunchOutcome::ok));
      ++launches;
    }
    // On a loaded machine the others may not have run at all yet.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (step == AbTrial::kRecheck / 4 && alone_launches == 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
  }
  stop = true;
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_GT(alone_launches, 0U);
  const std::string report = program.report();
  EXPECT_NE(report.find(R"("launches":{"total":)" + std::to_string(launches) + ","), std::string::npos)
      << launches << " in " << report;
}

}  // namespace
}  // namespace elbowroom::interposer
