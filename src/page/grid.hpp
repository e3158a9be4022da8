#pragma once

#include <optional>
#include <vector>

#include "elbowroom/plan/overlap_plan.hpp"
#include "page/model.hpp"

namespace elbowroom::page {

struct PlannedTime {
  OverlapPlan plan;
  Value median_us;
};

/// The times as a grid where their plans differ in exactly two controls, one of which has three values. Each pair of values must
/// have at most one time, and three quarters of the pairs must have one. Of a control that is a switch, or off in some plans, "off"
/// is a value. The pad belongs to the cap.
std::optional<Grid> grid_of(const std::vector<PlannedTime>& times);

}  // namespace elbowroom::page
