#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/plan/controls.hpp"

// Where "off" stands among a control's values, so that neighbours act alike.
namespace elbowroom::detail {

/// About as many blocks as the library launches by itself.
inline std::int64_t own_blocks(const ControlSite& site, const OverlapPlan& plan) {
  return plan.symmetric ? kSymmetricBlocks.count() : site.comm_blocks.count();
}

/// The value that the library or the kernel takes by itself.
inline std::int64_t own_value(std::string_view control, const ControlSite& site, const OverlapPlan& plan) {
  if (control == "comm_blocks") return own_blocks(site, plan);
  // Caps, targets, clusters and threads only take away from what there is by itself.
  return elbowroom::control(control).is_switch ? 0 : std::numeric_limits<std::int64_t>::max();
}

}  // namespace elbowroom::detail
