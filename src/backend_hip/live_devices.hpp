#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backend_hip/hip_library.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

struct LiveDevices {
  std::vector<DeviceInfo> infos;
  /// What the compiler is to compile for on each device, as the runtime names it: "gfx90a:sramecc+:xnack-".
  std::vector<std::string> targets;
};

/// Every device the runtime shows, with limits read from it; what no attribute tells is a fact of its architecture. `unavailable`
/// says why there is none, or which device's architecture is not known here.
Result<LiveDevices> live_devices(const HipLibrary& hip);

/// The limits of a device of `architecture` ("gfx90a") before anything is read from it. Architectures have waves of 64, and their
/// register file and LDS are known here; `unavailable` lists them.
Result<DeviceLimits> architecture_limits(const std::string& architecture);

/// HIP runtime and kernel driver, as {"hip", "6.2.41134"}, {"driver", "6.8.5"}. Also every variable that is set for RCCL or that
/// changes what HIP shows or how it queues, as {"NCCL_P2P_DISABLE", "1"}.
std::vector<std::pair<std::string, std::string>> live_versions(const HipLibrary& hip);

}  // namespace elbowroom::hip
