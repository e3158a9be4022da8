#include <benchmark/benchmark.h>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "elbowroom/plan/residency_plan.hpp"

namespace elbowroom {
namespace {

// Required: an occupancy query under 200 ns, a full plan under 20 us.

constexpr KernelFootprint kSimtGemm{Threads(256), Registers(56), Bytes(4'096), Bytes(0), 1};
// 32 blocks per SM: the longest table.
constexpr KernelFootprint kSmallest{Threads(32), Registers(32), Bytes(0), Bytes(0), 1};

void query_occupancy(benchmark::State& state, const KernelFootprint& footprint) {
  const DeviceLimits device = *find_device("h200");
  for (auto _ : state) { benchmark::DoNotOptimize(occupancy(device, footprint)); }
}
BENCHMARK_CAPTURE(query_occupancy, simt_gemm, kSimtGemm);
BENCHMARK_CAPTURE(query_occupancy, smallest, kSmallest);

void full_plan(benchmark::State& state, const KernelFootprint& footprint) {
  const DeviceLimits device = *find_device("h200");
  const CommKernel comm = *find_comm_kernel("nccl-2.28:544", device);
  for (auto _ : state) { benchmark::DoNotOptimize(plan_residencies(device, footprint, comm.footprint)); }
}
BENCHMARK_CAPTURE(full_plan, simt_gemm, kSimtGemm);
BENCHMARK_CAPTURE(full_plan, smallest, kSmallest);

}  // namespace
}  // namespace elbowroom

BENCHMARK_MAIN();
