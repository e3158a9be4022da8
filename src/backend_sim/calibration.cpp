#include "backend_sim/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend_sim/crowding.hpp"
#include "elbowroom/model/rank_classes.hpp"
#include "elbowroom/plan/lower.hpp"

namespace elbowroom::sim {
namespace {

constexpr int kMostSteps = 20;

/// One iteration's share of an isolated time: launches of one kernel on one stream are alike, with a gap between.
double one_iteration(const MeasuredCase& what, Microseconds time) {
  return (time.count() - what.machine.launch_gap * (what.step.repeats - 1)) / what.step.repeats;
}

/// Refuses a time that is no longer than the gaps between its launches.
Status longer_than_gaps(const MeasuredCase& what, Microseconds time) {
  if (one_iteration(what, time) > 0) { return {}; }
  return invalid_input(fmt::format("an isolated time_ms of {:g} for {} iterations, expected more than the {:g} ms between them",
                                   time.count() / 1000, what.step.repeats,
                                   what.machine.launch_gap * (what.step.repeats - 1) / 1000));
}

/// Finds the factor at which a time is the target. The time may grow more slowly than the factor, as where memory is saturated.
class Search {
 public:
  explicit Search(double factor) : factor_(factor) {}

  [[nodiscard]] double factor() const { return factor_; }

  /// `ratio`: target / time at factor(). False when that is close enough; otherwise factor() is a better one.
  bool improve(double ratio) {
    if (std::abs(ratio - 1) < kCloseEnough) { return false; }
    if (previous_ratio_ > 0) {
      const double growth = std::log(previous_ratio_ / ratio) / std::log(factor_ / previous_factor_);
      if (std::isfinite(growth)) { growth_ = std::clamp(growth, kLeastGrowth, 1.0); }
    }
    previous_factor_ = factor_;
    previous_ratio_ = ratio;
    factor_ *= std::pow(ratio, 1 / growth_);
    return true;
  }

 private:
  static constexpr double kCloseEnough = 1e-5;
  static constexpr double kLeastGrowth = 0.1;

  double factor_;
  double growth_ = 1;  ///< exponent of the factor in the time
  double previous_factor_ = 0;
  double previous_ratio_ = 0;  ///< 0: there is none
};

/// The simulated time of one isolated collective.
Result<double> comm_time(MeasuredCase what, const DeviceLimits& device) {
  what.step.repeats = 1;
  const Result<SimRun> run = simulate(what, Order::comm_only, {}, device);
  if (!run) { return run.error(); }
  return run->end;
}

SimKernel padded(ComputeProfile compute, Bytes pad) {
  compute.footprint.dynamic_shared += pad;
  return {std::move(compute), 0, std::nullopt};
}

/// The simulated time of one isolated launch with `pad` more shared memory.
Result<double> compute_time(const MeasuredCase& what, Bytes pad, const DeviceLimits& device) {
  const Result<AloneOnGpu> alone = uncrowded(what.machine, device, padded(what.compute, pad));
  if (!alone) { return alone.error(); }
  return alone->end;
}

}  // namespace

Result<SimRun> simulate(const MeasuredCase& what, Order order, const OverlapPlan& plan, const DeviceLimits& device) {
  const Result<Program> program = lower(what.step, order, plan);
  if (!program) { return program.error(); }
  const Result<SimProgram> translation =
      translated(what.step, *program, rank_classes(what.step), [&](const Launch& launch, const Lane&) {
        const auto* compute = std::get_if<ComputeSettings>(&launch.settings);
        if (compute == nullptr) { return Result(LaunchModel{SimKernel{what.comm, 0, std::nullopt}, 0}); }
        return Result(LaunchModel{padded(what.compute, compute->pad), 0});
      });
  if (!translation) { return translation.error(); }
  return simulate(*translation, what.machine, device);
}

Status calibrate_comm(MeasuredCase& what, Microseconds time, const DeviceLimits& device) {
  if (Status longer = longer_than_gaps(what, time); !longer) { return longer; }
  const double target = one_iteration(what, time);
  Search search(what.comm.slowdown);
  for (int step = 0; step < kMostSteps; ++step) {
    what.comm.slowdown = search.factor();
    const Result<double> simulated = comm_time(what, device);
    if (!simulated) { return simulated.error(); }
    if (!search.improve(target / *simulated)) { break; }
  }
  return {};
}

Status calibrate_compute(MeasuredCase& what, std::vector<IsolatedCompute> given, const DeviceLimits& device) {
  std::stable_sort(given.begin(), given.end(), [](const auto& a, const auto& b) { return a.blocks_per_sm < b.blocks_per_sm; });
  const std::vector<double> unscaled = what.compute.tile_time;
  std::size_t done = 0;  // entries of the curve that are settled
  double settled = 1;    // factor of the last of them
  for (const IsolatedCompute& isolated : given) {
    if (Status longer = longer_than_gaps(what, isolated.time); !longer) { return longer; }
    if (static_cast<std::size_t>(isolated.blocks_per_sm) <= done) {
      continue;  // given before
    }
    const std::size_t here = std::min(static_cast<std::size_t>(isolated.blocks_per_sm), unscaled.size());
    const double target = one_iteration(what, isolated.time);
    Search search(settled);
    double factor = settled;
    for (int step = 0; step < kMostSteps; ++step) {
      factor = search.factor();
      for (std::size_t at = done; at < unscaled.size(); ++at) {
        const double part = done == 0 ? 1.0 : std::min(1.0, static_cast<double>(at + 1 - done) / static_cast<double>(here - done));
        what.compute.tile_time[at] = unscaled[at] * (settled + (factor - settled) * part);
      }
      const Result<double> simulated = compute_time(what, isolated.pad, device);
      if (!simulated) { return simulated.error(); }
      if (!search.improve(target / *simulated)) { break; }
    }
    done = here;
    settled = factor;
    if (done == unscaled.size()) { break; }
  }
  return {};
}

}  // namespace elbowroom::sim
