#pragma once

#include "backend_sim/kernel_profiles.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom::sim {

/// What the CUDA and HIP backends launch for `compute` and how fast its blocks are, before any padding. `invalid_input` when they
/// have no such kernel or it does not run on the device.
Result<ComputeProfile> compute_profile(const Compute& compute, const DeviceLimits& device);

/// The same for a kernel whose footprint is known from elsewhere, with one block per tile.
Result<ComputeProfile> compute_profile(const Compute& compute, const KernelFootprint& footprint, const DeviceLimits& device);

/// A recorded kernel: all of its blocks alike and as long as the recorded median needs on a device that it has to itself. What it
/// asks of memory was not recorded: it neither slows others nor is slowed but for room. `invalid_input` where the footprint lacks
/// what decides about room.
Result<ComputeProfile> compute_profile(const RecordedKernel& kernel, const DeviceLimits& device);

}  // namespace elbowroom::sim
