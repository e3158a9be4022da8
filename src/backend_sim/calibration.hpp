#pragma once

#include <vector>

#include "backend_sim/sim_program.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom::sim {

/// A kernel and a collective whose profiles are to be set by what was measured of them.
struct MeasuredCase {
  Step step;  ///< of the two, in this order
  Machine machine;
  ComputeProfile compute;  ///< not padded
  CommProfile comm;
};

/// Runs the case under a plan of which the order of launches, the priority and the pad count.
Result<SimRun> simulate(const MeasuredCase& what, Order order, const OverlapPlan& plan, const DeviceLimits& device);

/// A compute kernel's measured time alone: all iterations at one residency.
struct IsolatedCompute {
  int blocks_per_sm = 1;
  Bytes pad;
  Microseconds time{0};
};

/// Scales the collective so that its isolated iterations take `time` in the simulator as well.
Status calibrate_comm(MeasuredCase& what, Microseconds time, const DeviceLimits& device);

/// Scales the tile time at each given residency likewise, the fewest blocks first: a kernel's tail runs at fewer blocks than its
/// bulk. Residencies between two given ones get a factor between theirs; of two times at one residency the first counts.
Status calibrate_compute(MeasuredCase& what, std::vector<IsolatedCompute> given, const DeviceLimits& device);

}  // namespace elbowroom::sim
