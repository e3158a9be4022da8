#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <memory>
#include <utility>

#include "headroom/backend/registry.hpp"

namespace headroom {
namespace {

// Required: 5 million block events a second on one core, a 4-GPU cell of the paper's suite in under 2 s, memory flat in blocks.

std::unique_ptr<Workload> workload(const Scenario& scenario) {
  BackendOptions options;
  options.device = "h200";
  return std::move(*(*open_backend("sim", options))->prepare(scenario));
}

Scenario gelu_all_reduce(std::int64_t mib) {
  Scenario scenario;
  scenario.name = "gelu-ar";
  scenario.iterations = 8;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(mib)};
  scenario.collective.bytes = mebibytes(512);
  return scenario;
}

Scenario paper_cell() {
  Scenario scenario;
  scenario.name = "mb-ar-opt1-114688";
  scenario.gpus = 4;
  scenario.iterations = 3;
  scenario.compute = TiledGemm{8'192, 57'344, 8'192, 64, 64, 32, std::nullopt, DataType::bf16};
  scenario.collective.bytes = mebibytes(896);
  return scenario;
}

OverlapPlan urgent() {
  OverlapPlan plan;
  plan.priority = true;
  return plan;
}

/// Recorded, because a workload keeps the answers of run().
void overlapped_schedule(benchmark::State& state, const Scenario& scenario) {
  const std::unique_ptr<Workload> asked = workload(scenario);
  const std::int64_t blocks = asked->compute().blocks->count() * scenario.iterations;
  for (auto _ : state) benchmark::DoNotOptimize(asked->record(Order::concurrent, urgent()));
  // A block starts and ends.
  state.counters["block_events"] =
      benchmark::Counter(static_cast<double>(2 * blocks * state.iterations()), benchmark::Counter::kIsRate);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
// 64 Ki, 1 Mi and 16 Mi blocks a launch: the peak stays where it is.
BENCHMARK_CAPTURE(overlapped_schedule, gelu_256M, gelu_all_reduce(256))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(overlapped_schedule, gelu_4G, gelu_all_reduce(4'096))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(overlapped_schedule, gelu_64G, gelu_all_reduce(65'536))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(overlapped_schedule, paper_gemm, paper_cell())->Unit(benchmark::kMillisecond);

/// All schemes of one cell at its unpadded residency, as bench runs them.
void paper_cell_all_orders(benchmark::State& state) {
  for (auto _ : state) {
    const std::unique_ptr<Workload> asked = workload(paper_cell());
    for (const Order order : {Order::compute_only, Order::comm_only, Order::sequential, Order::concurrent}) {
      benchmark::DoNotOptimize(asked->run(order, {}));
    }
    benchmark::DoNotOptimize(asked->run(Order::concurrent, urgent()));
  }
}
BENCHMARK(paper_cell_all_orders)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom

BENCHMARK_MAIN();
