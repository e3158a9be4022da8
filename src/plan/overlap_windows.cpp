#include "elbowroom/plan/overlap_windows.hpp"

namespace elbowroom {

Status windows_possible(Pattern pattern, int iterations) {
  if (pattern == Pattern::pair) return invalid_input("both sides of a pair run at once from the beginning to the end");
  if (iterations < 2) return invalid_input("nothing runs beside anything in one iteration of a pipeline");
  return {};
}

Status windows_possible(const OverlapPlan& plan, const Scenario& scenario) {
  if (!plan.windows_only) return {};
  if (Status possible = windows_possible(scenario.pattern, scenario.iterations); !possible) {
    return invalid_input("windows_only: " + possible.error().message);
  }
  return {};
}

OverlapPlan outside_windows(const OverlapPlan& plan, const Collective& collective) {
  if (!plan.windows_only) return plan;
  OverlapPlan outside;
  outside.comm_blocks = collective.comm_blocks;
  outside.cluster = collective.cluster;
  outside.comm_threads = plan.comm_threads;
  return outside;
}

}  // namespace elbowroom
