#pragma once

#include "backend_sim/machine.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom::sim {

/// A refusal that names what is not known of the device.
Status check_simulable(const DeviceLimits& device);

/// `device` is one that check_simulable() accepts.
const SimulatedSpeeds& performance_of(const DeviceLimits& device);

/// The engine's view of such a device.
Machine machine_of(const DeviceLimits& device);

}  // namespace elbowroom::sim
