#pragma once

#include "headroom/base/export.hpp"
#include "headroom/base/quantities.hpp"
#include "headroom/base/result.hpp"
#include "headroom/model/device_limits.hpp"
#include "headroom/model/kernel_footprint.hpp"
#include "headroom/plan/overlap_plan.hpp"

namespace headroom {

/// The plan that holds a kernel at `residency` blocks per SM with the least pad, every other control untouched; pad 0 when that is
/// its residency already. `invalid_input` says why it cannot be enforced: more than the kernel reaches, a residency that no pad
/// gives exactly, or a kernel in clusters, which is never padded.
HEADROOM_API Result<OverlapPlan> shape_to(const DeviceLimits& device, const KernelFootprint& block, BlocksPerSm residency);

}  // namespace headroom
