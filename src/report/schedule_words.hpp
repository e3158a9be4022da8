#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom::detail {

/// How tables name what runs: a plan that no baseline runs by what it sets, a baseline by its name and what it sets besides.
inline std::string schedule_words(std::string_view scheme, const OverlapPlan& plan) {
  if (scheme == "tuned") { return in_words(plan); }
  return plan == OverlapPlan{} ? std::string(scheme) : fmt::format("{}: {}", scheme, in_words(plan));
}

}  // namespace elbowroom::detail
