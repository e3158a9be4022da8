#pragma once

#include "elbowroom/base/model_width.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom::sim {

/// `device` is one of the catalog.
ModelWidth model_width_of(const DeviceLimits& device);

}  // namespace elbowroom::sim
