#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/plan/candidates.hpp"

namespace elbowroom {

/// What the simulator says of a case on a device that it knows; empty for other devices, and for steps that it does not run. A
/// question costs the simulation of 24 iterations, or repeats, at most. Of longer cases the rest is taken to go on as these did.
/// That is 5 % off where collectives wait for SMs that a GEMM holds, as no two such steps are alike.
ELBOWROOM_API Predictor simulated_times(const Case& what, const DeviceLimits& device);

}  // namespace elbowroom
