#pragma once

#include <optional>

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// Speed of one part of a device, per microsecond: 4.8e6 bytes per microsecond are 4.8 TB/s.
struct PartRate {
  double peak = 0;                ///< of the data sheet
  std::optional<double> reached;  ///< greatest that was measured on such a device; absent: nothing was

  [[nodiscard]] double best() const { return reached.value_or(peak); }
  [[nodiscard]] bool known() const { return best() > 0; }
};

/// How fast the parts of one device work, each with nothing beside it.
struct DeviceRates {
  PartRate f32;              ///< flop of all SMs on the FMA units
  PartRate bf16;             ///< dense flop of all SMs on the matrix units
  PartRate memory;           ///< bytes
  PartRate link;             ///< bytes in one direction, to all peers of a host together
  bool switch_adds = false;  ///< the switch between the links adds what several ranks send
  PartRate f16 = {};         ///< dense flop on the matrix units; not known of every device
  PartRate e4m3 = {};        ///< the same
};

/// Absent: one of them is not known of this device.
ELBOWROOM_API std::optional<DeviceRates> rates_of(const DeviceLimits& device);

}  // namespace elbowroom
