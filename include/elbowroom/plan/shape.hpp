#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom {

/// The plan that holds a kernel at `residency` blocks per SM with the least pad, every other control untouched. The pad is 0 when
/// that is its residency already. `invalid_input` says why it cannot be enforced. The kernel does not reach it, no pad gives it
/// exactly, or the kernel is in clusters, which are never padded.
ELBOWROOM_API Result<OverlapPlan> shape_to(const DeviceLimits& device, const KernelFootprint& block, BlocksPerSm residency);

}  // namespace elbowroom
