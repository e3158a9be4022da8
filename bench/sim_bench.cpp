#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <memory>

#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/backend_sim/scenarios.hpp"

namespace elbowroom {
namespace {

// Required: 5 million block events a second on one core, a 4-GPU cell of the paper's suite in under 2 s, memory flat in blocks.

Scenario heaviest_cell() { return paper_cell(Bound::memory, CollectiveOp::all_reduce, 32, std::nullopt); }

/// A new workload each time, because one keeps its answers.
void overlapped_schedule(benchmark::State& state, const Scenario& scenario) {
  const std::int64_t blocks = simulated("h200", scenario)->compute().blocks->count() * scenario.iterations;
  for (auto _ : state) { benchmark::DoNotOptimize(simulated("h200", scenario)->run(Order::concurrent, urgent())); }
  // A block starts and ends.
  state.counters["block_events"] =
      benchmark::Counter(static_cast<double>(2 * blocks * state.iterations()), benchmark::Counter::kIsRate);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
// 64 Ki, 1 Mi and 16 Mi blocks a launch: the peak stays where it is.
BENCHMARK_CAPTURE(overlapped_schedule, gelu_256M, gelu_all_reduce(mebibytes(256)))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(overlapped_schedule, gelu_4G, gelu_all_reduce(mebibytes(4'096)))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(overlapped_schedule, gelu_64G, gelu_all_reduce(mebibytes(65'536)))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(overlapped_schedule, paper_gemm, heaviest_cell())->Unit(benchmark::kMillisecond);

/// All schemes of one cell at its unpadded residency, as bench runs them.
void paper_cell_all_orders(benchmark::State& state) {
  for (auto _ : state) {
    const std::unique_ptr<CaseTrials> asked = simulated("h200", heaviest_cell());
    for (const Order order : {Order::compute_only, Order::comm_only, Order::sequential, Order::concurrent}) {
      benchmark::DoNotOptimize(asked->run(order, {}));
    }
    benchmark::DoNotOptimize(asked->run(Order::concurrent, urgent()));
  }
}
BENCHMARK(paper_cell_all_orders)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace elbowroom

BENCHMARK_MAIN();
