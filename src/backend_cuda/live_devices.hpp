#pragma once

#include <string>
#include <utility>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// Every device the runtime shows, with limits read from it. `unavailable` says why there is none.
Result<std::vector<DeviceInfo>> live_devices();

/// CUDA runtime and driver, as {"cuda", "13.0"}, {"driver", "580.159.04"}. Also every variable that is set for NCCL or that changes
/// what CUDA shows, as {"NCCL_P2P_DISABLE", "1"}.
std::vector<std::pair<std::string, std::string>> live_versions();

}  // namespace elbowroom::cuda
