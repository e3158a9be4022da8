#pragma once

#include <cstdint>
#include <limits>

#include "elbowroom/plan/controls.hpp"

namespace elbowroom::detail {

/// Where "off" stands among a control's values, so that neighbours act alike.
inline std::int64_t own_value(const Control& control, const ControlSite& site, const OverlapPlan& plan) {
  if (control.own != nullptr) { return control.own(site, plan); }
  // Caps, targets and threads only take away from what there is by itself.
  return control.is_switch ? 0 : std::numeric_limits<std::int64_t>::max();
}

}  // namespace elbowroom::detail
