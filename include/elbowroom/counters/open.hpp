#pragma once

#include <memory>
#include <span>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/meter.hpp"

namespace elbowroom {

/// The counters of the GPUs at these places on the bus ("0000:1b:00.0"), by the first library that is here: NVML, AMD SMI.
/// `unavailable` says in one line why there are none: no library, a GPU that it does not know, a partition (MIG), no permission, no
/// such counter.
ELBOWROOM_API Result<std::unique_ptr<EnergyMeter>> open_energy_meter(std::span<const std::string> bus_ids);

}  // namespace elbowroom
