#include "backend_sim/calibration.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::sim {
namespace {

constexpr int kMostSteps = 20;
constexpr double kCloseEnough = 1e-5;

/// One iteration's share of an isolated time: launches of one kernel on one stream are alike, with a gap between.
double one_iteration(const SimCase& what, Microseconds time) {
  return (time.count() - what.machine.launch_gap * (what.iterations - 1)) / what.iterations;
}

/// How far the simulated time of one isolated iteration is from `target`: target / simulated.
Result<double> ratio_to(double target, SimCase what, Order order, const DeviceLimits& device) {
  what.iterations = 1;
  what.order = order;
  const Result<EngineRun> run = simulate(what, device);
  if (!run) return run.error();
  return target / run->end;
}

}  // namespace

Status calibrate_comm(SimCase& what, Microseconds time, const DeviceLimits& device) {
  const double target = one_iteration(what, time);
  for (int step = 0; step < kMostSteps; ++step) {
    const Result<double> ratio = ratio_to(target, what, Order::comm_only, device);
    if (!ratio) return ratio.error();
    what.comm.slowdown *= *ratio;
    if (std::abs(*ratio - 1) < kCloseEnough) break;
  }
  return {};
}

Status calibrate_compute(SimCase& what, std::vector<IsolatedCompute> given, const DeviceLimits& device) {
  std::sort(given.begin(), given.end(), [](const auto& a, const auto& b) { return a.blocks_per_sm < b.blocks_per_sm; });
  const std::vector<double> unscaled = what.compute.tile_time;
  std::size_t done = 0;  // entries of the curve that are settled
  double settled = 1;    // factor of the last of them
  for (const IsolatedCompute& isolated : given) {
    const std::size_t here = std::clamp<std::size_t>(static_cast<std::size_t>(isolated.blocks_per_sm), done + 1, unscaled.size());
    const double target = one_iteration(what, isolated.time);
    double factor = settled;
    for (int step = 0; step < kMostSteps; ++step) {
      for (std::size_t at = done; at < unscaled.size(); ++at) {
        const double part = done == 0 ? 1.0 : std::min(1.0, static_cast<double>(at + 1 - done) / static_cast<double>(here - done));
        what.compute.tile_time[at] = unscaled[at] * (settled + (factor - settled) * part);
      }
      SimCase padded = what;
      padded.compute.footprint.dynamic_shared += isolated.pad;
      const Result<double> ratio = ratio_to(target, padded, Order::compute_only, device);
      if (!ratio) return ratio.error();
      if (std::abs(*ratio - 1) < kCloseEnough) break;
      factor *= *ratio;
    }
    done = here;
    settled = factor;
    if (done == unscaled.size()) break;
  }
  return {};
}

}  // namespace headroom::sim
