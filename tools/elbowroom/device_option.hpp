#pragma once

#include <optional>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// What `--device` describes: a device file where the text has a slash or ends in ".json"; else a device of a file in one of the
/// folders of ELBOWROOM_DEVICE_PATH, the first that is named so; else one of the catalog. Absent for "auto". Messages begin with
/// the option.
Result<std::optional<DeviceLimits>> described_device(std::string_view option);

}  // namespace elbowroom
