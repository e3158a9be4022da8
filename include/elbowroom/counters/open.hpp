#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/meter.hpp"
#include "elbowroom/energy/watch.hpp"

namespace elbowroom {

/// The counters of the GPUs at these places on the bus ("0000:1b:00.0"), by the first library that is here: NVML, AMD SMI.
/// `unavailable` says in one line why there are none: no library, an unknown GPU, a MIG device, no permission, or no such counter.
ELBOWROOM_API Result<std::unique_ptr<EnergyMeter>> open_energy_meter(std::span<const std::string> bus_ids);

/// Those of all GPUs of this machine that the first library here knows, each by itself: one without a counter refuses no other.
/// Takes as long as the driver takes to begin. `unavailable` where no library is here, or it does not name GPUs.
ELBOWROOM_API Result<std::vector<MeteredGpu>> open_every_energy_meter();

}  // namespace elbowroom
