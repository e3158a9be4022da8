#pragma once

#include <optional>
#include <span>
#include <string>

#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::detail {

/// A library may take a block budget, symmetric memory or its engines as a suggestion: says so where the recording shows
/// something else. Empty without a recording.
std::optional<std::string> library_note(const OverlapPlan& plan, std::span<const Timeline> recordings);

}  // namespace elbowroom::detail
