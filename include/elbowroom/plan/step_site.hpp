#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/control_site.hpp"

namespace elbowroom {

struct ComputeFacts;
struct OverlapPlan;
struct Step;
struct StepPlan;

/// Operations of a step that are the same work on the same ranks, and where controls act on them.
struct KindSite {
  std::vector<int> operations;  ///< of the step, ascending, at least one
  ControlSite site;             ///< beside the greatest kind of the other side
};

/// Where controls act in a step.
struct StepSite {
  /// The greatest communication beside the greatest computation. A budget or cluster size is fixed here where all communications
  /// fix theirs.
  ControlSite whole;
  int computation = 0;  ///< an operation of that greatest kind
  std::vector<KindSite> computations;
  std::vector<KindSite> communications;
};

/// By operation of the step; asked for computations only.
using FactsOf = std::function<const ComputeFacts&(int operation)>;

/// The sites of a step on a device. Among computations products are greater than other kernels; else more work is greater, over
/// all operations of a kind. `invalid_input` where the step lacks one of both sides, or control_site() knows no communication
/// kernel. Takes time in proportion to operations times kinds.
ELBOWROOM_API Result<StepSite> step_site(const Step& step, const DeviceLimits& device, const FactsOf& compute,
                                         const Capabilities& can);

/// One plan for a whole step: every operation gets what can act there, and what the user fixed.
ELBOWROOM_API StepPlan spread(const StepSite& site, const OverlapPlan& plan);

/// Which controls of a plan act on a part of the operations only: "copy engines on 4 of 12 communications, SM target 116 on 8 of 20
/// computations". Absent where each acts on all, or is about order alone.
ELBOWROOM_API std::optional<std::string> where_it_acts(const StepSite& site, const OverlapPlan& plan);

}  // namespace elbowroom
