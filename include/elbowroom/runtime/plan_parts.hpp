#pragma once

#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom {

/// Who carries out what of a plan in an application that makes its own launches.
struct PlanParts {
  OverlapPlan launch;                         ///< for Session::launch: the cap with its pad, and priority
  bool launch_gate = false;                   ///< put collectives into Session::launch_gate()
  bool communicator = false;                  ///< give the plan to interop::configure() when the communicator is made
  std::vector<std::string_view> application;  ///< names of controls that the application itself must carry out or leave out
};

ELBOWROOM_API PlanParts parts_of(const OverlapPlan& plan);

}  // namespace elbowroom
