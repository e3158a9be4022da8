#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/energy/meter.hpp"

namespace elbowroom {

struct EnergySettings {
  /// Opens the counters of the GPUs at these places on the bus, once a case. An error is why there are none.
  std::function<Result<std::unique_ptr<EnergyMeter>>(std::span<const std::string> bus_ids)> open;
  std::optional<Microseconds> span = std::nullopt;  ///< absent: as plan_spans() says
};

}  // namespace elbowroom
