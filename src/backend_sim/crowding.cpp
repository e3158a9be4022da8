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
double greatest_throughput(int sms, const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute,
                           const CommProfile& comm) {
  int best = 1;
  const auto together = [&](int blocks) { return blocks / compute.tile_time[static_cast<std::size_t>(blocks - 1)]; };
  for (int blocks = 2; blocks <= capacity.most_compute(); ++blocks) {
    if (together(blocks) > together(best)) best = blocks;
  }
  SharedRates rates(machine, capacity, compute, comm);
  rates.add(best, 0, sms);
  rates.update();
  return sms * best * rates.tile_rate(best, 0);
}

}  // namespace

AloneOnGpu uncrowded(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute, const CommProfile& comm) {
  const std::vector<Launch> once{Launch{}};
  AloneOnGpu best{machine.comm_sms, compute.work, simulate(machine, capacity, compute, comm, once).end};
  Machine smaller = machine;
  ComputeProfile resized = compute;
  while (++smaller.comm_sms < machine.sms) {
    const int sms = machine.sms - smaller.comm_sms;
    if (compute.persistent) resized.work.x = std::min<std::int64_t>(compute.work.x, sms);
    const double tiles = tiles_of(resized) * (1.0 - block_spread(smaller, capacity, resized));
    if (tiles / greatest_throughput(sms, machine, capacity, compute, comm) >= best.end) break;
    const double end = simulate(smaller, capacity, resized, comm, once).end;
    if (end < best.end) best = {smaller.comm_sms, resized.work, end};
  }
  return best;
}

}  // namespace elbowroom::sim
