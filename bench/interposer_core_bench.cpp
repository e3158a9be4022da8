#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "interposer/core/core.hpp"

namespace elbowroom::interposer {
namespace {

// Required: a launch outside windows well under 150 ns, one inside under 400 ns. The hooks come on top of that.

constexpr ContextId kContext = 0x1000;
constexpr FunctionId kAllReduce = 0x10'0000;

Platform platform() {
  return {nullptr, [](void*, StreamId) { return StreamInfo{kContext, 0, false}; },
          [](void*, FunctionId function) {
            return FunctionInfo{function == kAllReduce ? "ncclDevKernel_AllReduce" : "nvjet_sm90_gemm", 168, 1'024};
          },
          [](void*, std::int32_t) { return DeviceInfo{132, 233'472, 1'024, 232'448}; },
          [](void*, FunctionId, std::uint32_t, std::uint32_t) { return 1U; }};
}

/// Launches of a step: sixty-four kernels with grids of their own, as a model has.
class Launches {
 public:
  explicit Launches(Policy policy) {
    Rules rules;
    rules.policy = policy;
    core = Core::create(rules, platform());
  }
  LaunchFacts facts_of(FunctionId function, StreamId stream, std::uint32_t grid) {
    LaunchFacts facts;
    facts.stream = stream;
    facts.function = function;
    facts.grid = {grid, 1, 1};
    facts.block = {384, 1, 1};
    facts.host_time_ns = now += 5'000;
    return facts;
  }
  Ticket launch(FunctionId function, StreamId stream, std::uint32_t grid) {
    const Decision decision = core->on_launch(facts_of(function, stream, grid));
    core->on_launched(decision.ticket, LaunchOutcome::ok);
    benchmark::DoNotOptimize(decision);
    return decision.ticket;
  }
  void teach(FunctionId function, StreamId stream, std::uint32_t grid, std::uint64_t nanoseconds) {
    for (int i = 0; i < 3; ++i) { core->on_timing(launch(function, stream, grid), nanoseconds, now += nanoseconds); }
  }
  void compute() {
    const std::uint32_t kernel = next++ % 64;
    const FunctionId function = 0x20'0000 + FunctionId{kernel} * 64;
    if (!core->leaves_alone(function)) { launch(function, 0x2000, 132 + kernel); }
  }
  /// One of a training loop in which every step takes as long as the others.
  void collective() {
    const Decision decision = core->on_launch(facts_of(kAllReduce, 0x3000, 24));
    core->on_launched(decision.ticket, LaunchOutcome::ok);
    if (decision.step != 0) { core->on_step_time(std::exchange(step, decision.step), 1'000'000); }
  }

  std::unique_ptr<Core> core;
  std::uint64_t now = 1'000'000'000;
  std::uint32_t next = 0;
  std::uint64_t step = 0;  ///< the latest that began
};

void without_collectives(benchmark::State& state) {
  Launches launches(Policy::automatic);
  for (auto _ : state) { launches.compute(); }
}
BENCHMARK(without_collectives);

void outside_windows(benchmark::State& state) {
  Launches launches(Policy::gate);
  launches.launch(kAllReduce, 0x3000, 24);
  launches.core->on_synchronized(launches.core->stream_point(0x3000), launches.now);
  for (auto _ : state) { launches.compute(); }
}
BENCHMARK(outside_windows);

/// Between two launches a real program uses more memory than a core's caches hold: the argument, in KiB. The clock's own 20 to 30
/// ns are in the figure.
void time_cold_computes(benchmark::State& state, Launches& launches) {
  for (int i = 0; i < 256; ++i) { launches.compute(); }
  std::vector<char> others(static_cast<std::size_t>(state.range(0)) * 1024);
  for (auto _ : state) {
    for (std::size_t at = 0; at < others.size(); at += 64) { ++others[at]; }
    benchmark::ClobberMemory();
    const auto begin = std::chrono::steady_clock::now();
    launches.compute();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
}

void outside_windows_cold(benchmark::State& state) {
  Launches launches(Policy::gate);
  launches.launch(kAllReduce, 0x3000, 24);
  launches.core->on_synchronized(launches.core->stream_point(0x3000), launches.now);
  time_cold_computes(state, launches);
}
BENCHMARK(outside_windows_cold)->Arg(256)->Arg(2048)->Iterations(20'000)->UseManualTime();

/// After `auto` has compared and found nothing to gain.
void at_rest_cold(benchmark::State& state) {
  Launches launches(Policy::automatic);
  for (int i = 0; i < 100 * 16; ++i) {
    launches.collective();
    launches.compute();
  }
  if (!launches.core->leaves_alone(0x20'0000)) { state.SkipWithError("not at rest"); }
  time_cold_computes(state, launches);
}
BENCHMARK(at_rest_cold)->Arg(256)->Arg(2048)->Iterations(20'000)->UseManualTime();

/// Beside collectives of unknown duration.
void inside_windows(benchmark::State& state) {
  Launches launches(Policy::gate);
  for (std::int64_t i = 0; i < state.range(0); ++i) { launches.launch(kAllReduce, 0x3000, 24); }
  for (auto _ : state) { launches.compute(); }
}
BENCHMARK(inside_windows)->Arg(1)->Arg(8);

/// A program that never synchronises with the host: as many collectives as can be live, of which all but the last are expected to
/// be over.
void inside_windows_behind_many(benchmark::State& state) {
  Launches launches(Policy::gate);
  launches.teach(kAllReduce, 0x3000, 24, 1'000'000);
  for (int i = 0; i < 64; ++i) {
    launches.launch(kAllReduce, 0x3000, 24);
    launches.now += 2'000'000;
  }
  launches.teach(kAllReduce, 0x3000, 23, 4'000'000'000);
  launches.launch(kAllReduce, 0x3000, 23);
  for (auto _ : state) {
    launches.now -= 5'000;
    launches.compute();
  }
}
BENCHMARK(inside_windows_behind_many);

/// A collective, its wait for compute and four kernels beside it, over and over.
void steps(benchmark::State& state) {
  Launches launches(Policy::automatic);
  for (auto _ : state) {
    launches.core->on_event_record(0x900, 0x2000, launches.core->before_event_record(0x900));
    launches.core->on_stream_wait(0x3000, 0x900, launches.core->before_wait(0x900));
    launches.launch(kAllReduce, 0x3000, 24);
    for (int i = 0; i < 4; ++i) { launches.compute(); }
  }
  state.SetItemsProcessed(state.iterations() * 7);
}
BENCHMARK(steps);

void record_and_wait(benchmark::State& state) {
  Launches launches(Policy::gate);
  launches.launch(kAllReduce, 0x3000, 24);
  EventId event = 0;
  for (auto _ : state) {
    event = (event + 64) % 65'536;
    launches.core->on_event_record(0x900'0000 + event, 0x2000, launches.core->before_event_record(0x900'0000 + event));
    launches.core->on_stream_wait(0x3000, 0x900'0000 + event, launches.core->before_wait(0x900'0000 + event));
  }
}
BENCHMARK(record_and_wait);

}  // namespace
}  // namespace elbowroom::interposer

BENCHMARK_MAIN();
