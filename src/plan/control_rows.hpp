#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "elbowroom/plan/controls.hpp"

// The one place that knows each control.
namespace elbowroom::detail {

std::span<const Control> control_rows();

/// Residencies that padding reaches at the site, ascending; `invalid_input` where there is none.
Result<std::vector<std::int64_t>> residency_caps(const ControlSite& site);

/// Whether it matters that a plan acts in overlap windows only; the reason otherwise.
Status windows_matter(const ControlSite& site, const OverlapPlan& plan);

}  // namespace elbowroom::detail
