#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom {

/// The plan that holds a kernel at `residency` blocks per SM with the least pad, every other control untouched; pad 0 when that is
/// its residency already. `invalid_input` says why it cannot be enforced: more than the kernel reaches, a residency that no pad
/// gives exactly, or a kernel in clusters, which is never padded.
ELBOWROOM_API Result<OverlapPlan> shape_to(const DeviceLimits& device, const KernelFootprint& block, BlocksPerSm residency);

}  // namespace elbowroom
