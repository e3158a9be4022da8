#pragma once

#include <cstdint>
#include <span>

#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/model/device_limits.hpp"

/// The numbers of a device file: names, ranges, and where they go. The schema's file has the same; a test compares them.
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
};
std::span<const LimitMember> limit_members();

struct RateMember {
  NumberMember peak;
  NumberMember reached;
  double unit;  ///< of the document, per microsecond
  PartRate DeviceRates::* part;
};
std::span<const RateMember> rate_members();

struct SpeedMember {
  NumberMember number;
  void (*set)(SimulatedSpeeds& speeds, double value);
};
std::span<const SpeedMember> speed_members();

}  // namespace elbowroom::detail
