#pragma once

#include <optional>

#include "backend_sim/kernel_profiles.hpp"
#include "headroom/base/result.hpp"
#include "headroom/model/device_limits.hpp"
#include "headroom/model/scenario.hpp"

namespace headroom::sim {

/// The communication kernel that the vendor's library launches for `collective` among `gpus` equal devices. `collective` carries
/// what a plan decided: block budget and cluster size. `threads`: of each block where NCCL_NTHREADS says so, without the warp that
/// the library adds. `invalid_input` when a block cannot run on the device.
Result<CommProfile> comm_profile(const Collective& collective, std::optional<Threads> threads, int gpus,
                                 const DeviceLimits& device);

}  // namespace headroom::sim
