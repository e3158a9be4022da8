#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/model_width.hpp"
#include "elbowroom/base/provenance.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// The devices that figures belong to; all of one kind.
struct ReportedDevice {
  std::string name;  ///< as the driver gives it; of the catalog when simulated
  DeviceLimits limits;
  int count = 1;
  Bytes memory;                                    ///< of one device
  std::optional<ModelWidth> model = std::nullopt;  ///< of a simulated device
};

/// Where figures come from. Every report begins with it, so that no figure is ever without it.
struct Origin {
  Provenance provenance = Provenance::simulated;
  std::string backend;
  ReportedDevice device;
  std::vector<std::pair<std::string, std::string>> versions;  ///< software that shapes the figures: {"nccl", "2.28.3"}
  std::uint64_t seed = 1;
};

/// "measured on 2 x NVIDIA H200 (h200, sm_90, 132 SMs, 139.8 GiB each), backend cuda, seed 1"
ELBOWROOM_API std::string device_line(const Origin& origin);

/// "driver 580.65, cuda 13.0, nccl 2.28.3"; "none known" for an empty list.
ELBOWROOM_API std::string versions_line(const Origin& origin);

/// What simulated times rest on and how far off they may be: "model: nothing was measured on a100; ...". Absent for measured ones.
ELBOWROOM_API std::optional<std::string> model_line(const Origin& origin);

}  // namespace elbowroom
