#pragma once

#include <cstdint>
#include <span>

#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/model/device_limits.hpp"

/// The numbers of a device file: names, ranges, and what holds them. The schema's file has the same; a test compares them.
namespace elbowroom::detail {

struct NumberMember {
  const char* name;
  double least;
  double greatest;
  bool whole;
};

struct LimitMember {
  NumberMember number;
  void (*set)(DeviceLimits& limits, std::int64_t value);
  std::int64_t (*get)(const DeviceLimits& limits);
};
std::span<const LimitMember> limit_members();

struct RateMember {
  NumberMember peak;
  NumberMember reached;
  double unit;  ///< of the document, per microsecond
  PartRate DeviceRates::* part;
  bool needed = true;  ///< without it the device has no rates
};
std::span<const RateMember> rate_members();

struct SpeedMember {
  NumberMember number;
  void (*set)(SimulatedSpeeds& speeds, double value);
  double (*get)(const SimulatedSpeeds& speeds);
  bool needed = true;
  double absent = 0;  ///< what a file without it means, where it is not needed

  /// A file says it.
  [[nodiscard]] bool stands(const SimulatedSpeeds& speeds) const { return needed || get(speeds) != absent; }
};
std::span<const SpeedMember> speed_members();

/// How far off the simulator is, to either side, as a share.
inline constexpr NumberMember kModelWidth{"width", 0, 1, false};

}  // namespace elbowroom::detail
