#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// Reads an `elbowroom.device/1` document: limits, rates where they are known, the simulator's constants where somebody fitted
/// them, and the source of each number. Errors are `invalid_input`, in one line that begins with `file`. They are of members that
/// are missing, unknown or out of range, of numbers without a source, and of sources whose number is not there.
ELBOWROOM_API Result<DeviceLimits> parse_device(std::string_view text, const std::string& file);

}  // namespace elbowroom
