#include "elbowroom/runtime/plan_parts.hpp"

#include "elbowroom/plan/controls.hpp"

namespace elbowroom {

PlanParts parts_of(const OverlapPlan& plan) {
  PlanParts parts;
  parts.launch.blocks_per_sm = plan.blocks_per_sm;
  parts.launch.pad = plan.pad;
  parts.launch.priority = plan.priority;
  parts.launch_gate = plan.launch_gate;
  parts.communicator = plan.comm_blocks || plan.cluster;
  OverlapPlan carried = parts.launch;
  carried.launch_gate = plan.launch_gate;
  carried.comm_blocks = plan.comm_blocks;
  carried.cluster = plan.cluster;
  for (const Control& control : controls()) {
    if (control.get(plan) != control.get(carried)) { parts.application.push_back(control.name); }
  }
  return parts;
}

}  // namespace elbowroom
