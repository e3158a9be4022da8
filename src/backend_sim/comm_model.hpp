#pragma once

#include "backend_sim/kernel_profiles.hpp"
#include "headroom/base/result.hpp"
#include "headroom/model/device_limits.hpp"
#include "headroom/model/scenario.hpp"

namespace headroom::sim {

/// The communication kernel that the vendor's library launches for `collective` among `gpus` equal devices. `collective` carries
/// what a plan decided: block budget and cluster size. `invalid_input` when a block cannot run on the device.
Result<CommProfile> comm_profile(const Collective& collective, int gpus, const DeviceLimits& device);

/// The same with another number of threads per block (NCCL_NTHREADS and the warp that it adds).
Result<CommProfile> comm_profile(const Collective& collective, int gpus, Threads threads, const DeviceLimits& device);

}  // namespace headroom::sim
