#pragma once

#include <vector>

#include "backend_sim/sim_case.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom::sim {

/// A compute kernel's measured time alone: all iterations at one residency.
struct IsolatedCompute {
  int blocks_per_sm = 1;
  Bytes pad;
  Microseconds time{0};
};

/// Scales the collective so that its isolated iterations take `time` in the simulator as well.
Status calibrate_comm(SimCase& what, Microseconds time, const DeviceLimits& device);

/// Scales the tile time at each given residency likewise, the fewest blocks first: a kernel's tail runs at fewer blocks than its bulk.
/// Residencies between two given ones get a factor between theirs; of two times at one residency the first counts.
Status calibrate_compute(SimCase& what, std::vector<IsolatedCompute> given, const DeviceLimits& device);

}  // namespace elbowroom::sim
