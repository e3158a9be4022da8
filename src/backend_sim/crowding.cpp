#include "backend_sim/crowding.hpp"

#include <algorithm>

#include "backend_sim/shared_rates.hpp"
#include "backend_sim/sm_pool.hpp"

namespace elbowroom::sim {
namespace {

double tiles_of(const ComputeProfile& compute) {
  const double overhead = compute.block_overhead / compute.tile_time.front();
  return static_cast<double>(compute.work.tiles_x * compute.work.tiles_y) + overhead * static_cast<double>(compute.work.blocks());
}

/// Tiles per microsecond of that many SMs, each with as many blocks as do most together.
double greatest_throughput(int sms, const Machine& machine, const SmCapacity& capacity, const SimKernel& kernel) {
  int best = 1;
  const auto together = [&](int blocks) { return blocks / kernel.compute().tile_time[static_cast<std::size_t>(blocks - 1)]; };
  for (int blocks = 2; blocks <= capacity.most(0); ++blocks) {
    if (together(blocks) > together(best)) { best = blocks; }
  }
  MixTable mixes(capacity);
  const std::vector<SimKernel> alone{kernel};
  SharedRates rates(machine, alone, mixes);
  const int mix = mixes.with(0, 0, best);
  rates.add(mix, sms);
  rates.update();
  return sms * best * rates.rates(mix).front();
}

}  // namespace

Result<AloneOnGpu> uncrowded(const Machine& machine, const DeviceLimits& device, const SimKernel& kernel) {
  const Result<SmCapacity> capacity = SmCapacity::make(device, {kernel});
  if (!capacity) { return capacity.error(); }
  const auto end_of = [&](const SimKernel& resized) { return simulate(machine, *capacity, {resized}, {DeviceTasks{Task{}}}).end; };
  AloneOnGpu best{kernel, end_of(kernel)};
  SimKernel smaller = kernel;
  ComputeProfile& resized = std::get<ComputeProfile>(smaller.profile);
  while (++smaller.left_out < machine.sms) {
    const int sms = machine.sms - smaller.left_out;
    if (resized.persistent) { resized.work.x = std::min<std::int64_t>(kernel.compute().work.x, sms); }
    const double tiles = tiles_of(resized) * (1.0 - block_spread(machine, smaller, capacity->most(0)));
    if (tiles / greatest_throughput(sms, machine, *capacity, kernel) >= best.end) {
      if (resized.persistent) { continue; }  // on fewer SMs it has fewer blocks, whose begins and ends take time as well
      break;
    }
    const double end = end_of(smaller);
    if (end < best.end) { best = {smaller, end}; }
  }
  return best;
}

}  // namespace elbowroom::sim
