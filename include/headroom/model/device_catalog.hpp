#pragma once

#include <span>
#include <string_view>

#include "headroom/base/export.hpp"
#include "headroom/base/result.hpp"
#include "headroom/model/device_limits.hpp"

namespace headroom {

/// The devices whose limits are known without one being present, in the order of their release per vendor.
/// Where a live device is at hand its own answers go first: a partitioned or cut-down card has fewer SMs.
HEADROOM_API std::span<const DeviceLimits> device_catalog();

/// The entry of that name ("h200"). `invalid_input` names every valid name.
HEADROOM_API Result<DeviceLimits> find_device(std::string_view name);

}  // namespace headroom
