#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

struct ControlSite;
struct OverlapPlan;

/// One control of a plan as it is typed.
struct ControlSetting {
  std::string name;                   ///< of one of controls()
  std::optional<std::int64_t> value;  ///< absent: it was only named, as switches are
};

/// Reads "priority,comm_blocks=8,copy_engine": names of controls(), each at most once, with a count where it takes one, in any
/// order. `invalid_input` names the part that is none.
ELBOWROOM_API Result<std::vector<ControlSetting>> parse_plan(std::string_view text);

/// The site's own plan with `settings`. `invalid_input` names the first control that cannot act at the site with that value.
ELBOWROOM_API Result<OverlapPlan> plan_of(const ControlSite& site, const std::vector<ControlSetting>& settings);

}  // namespace elbowroom
