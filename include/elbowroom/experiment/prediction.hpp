#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/candidates.hpp"

namespace elbowroom {

/// What the simulator says of a case on a device that it knows; empty for other devices. A question costs the simulation of 24
/// iterations at most: of longer cases the rest is taken to go on as these did (5 % off where collectives wait for SMs that a GEMM
/// holds: no two such steps are alike).
ELBOWROOM_API Predictor simulated_times(const Scenario& scenario, const DeviceLimits& device);

}  // namespace elbowroom
