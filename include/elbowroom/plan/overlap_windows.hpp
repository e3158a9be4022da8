#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom {

/// Which launches of a schedule have a launch of the other side that may run beside them. Iterations count from 0. In a pipeline the
/// first compute kernel precedes every collective and the last collective follows every compute kernel; in a pair all run at once.
constexpr bool compute_in_window(Pattern pattern, int iteration) { return pattern == Pattern::pair || iteration > 0; }
constexpr bool comm_in_window(Pattern pattern, int iteration, int iterations) {
  return pattern == Pattern::pair || iteration + 1 < iterations;
}

/// `invalid_input` where a plan cannot tell launches in windows from others: all of a pair's are, none of a single iteration's.
ELBOWROOM_API Status windows_possible(Pattern pattern, int iterations);

/// The same for a plan that asks for it; succeeds for every other plan.
ELBOWROOM_API Status windows_possible(const OverlapPlan& plan, const Scenario& scenario);

/// What launches outside of windows run under: `plan` itself, or, when it acts in windows only, nothing but what the user fixed and
/// what a process cannot change (the collective's threads).
ELBOWROOM_API OverlapPlan outside_windows(const OverlapPlan& plan, const Collective& collective);

}  // namespace elbowroom
