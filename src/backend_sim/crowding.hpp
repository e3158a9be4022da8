#pragma once

#include "backend_sim/engine.hpp"

namespace elbowroom::sim {

/// What a computation that has the GPU to itself makes use of.
struct AloneOnGpu {
  SimKernel kernel;
  double end = 0;  ///< of one launch
};

/// The kernel on the SMs, all that it may run on or fewer, with which one launch of it ends first.
///
/// Cohorts move in step. With a few SMs more and the same number of waves, each wave presses harder on memory and the last one
/// leaves it idle. Real blocks drift apart and keep memory busy to the end. Taking the best of all smaller machines makes up for
/// that: a kernel alone never ends later for more SMs or more bandwidth. Costs one simulated launch, and one more for each smaller
/// machine whose full throughput could end sooner. Mostly there is none, for kernels of few waves up to as many as there are SMs.
/// `invalid_input` when the kernel cannot run on the device.
Result<AloneOnGpu> uncrowded(const Machine& machine, const DeviceLimits& device, const SimKernel& kernel);

}  // namespace elbowroom::sim
