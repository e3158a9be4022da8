#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fake_platform.hpp"
#include "interposer/core/passing.hpp"

namespace elbowroom::interposer {

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr FunctionId kElementwise = 4;
constexpr StreamId kBlockingStream = 0x5000;
constexpr StreamId kDefaultStream = legacy_stream(kContext);

inline std::uint64_t passing_now = 0;
inline HostTime passing_clocks() { return {passing_now, passing_now}; }

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
    decide(asked);
    return false;
  }
  /// The long way, as a programmatic launch always goes.
  void programmatic(FunctionId function, StreamId stream, std::uint32_t grid) {
    LaunchFacts asked = facts(function, stream, grid);
    asked.programmatic = true;
    decide(asked);
  }
  bool compute(StreamId stream = kComputeStream, unsigned thread = 0) { return launch(kGemm, stream, 4'096, thread); }
  void collective(StreamId stream = kCommStream) { launch(kAllReduce, stream, 24); }
  void synchronize(StreamId stream) const { core->on_synchronized(core->stream_point(stream), passing_now); }
  [[nodiscard]] std::string report() const { return report_of(*core); }

  FakePlatform fake;
  PassGate gate;
  std::unique_ptr<Core> core;
  Decision decision;
  LaunchOutcome outcome = LaunchOutcome::ok;  ///< of the launches that go the long way

 private:
  void decide(const LaunchFacts& asked) {
    decision = core->on_launch(asked);
    core->on_launched(decision.ticket, outcome);
  }

  std::vector<PassingThread> threads_;
};

/// Durations are not learned, so that each kind of launch may pass from its second one on.
inline Rules untimed_rules(Policy policy = Policy::gate) {
  Rules rules = rules_of(policy);
  rules.timing = false;
  return rules;
}

}  // namespace elbowroom::interposer
