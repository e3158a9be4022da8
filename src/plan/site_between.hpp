#pragma once

#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/control_site.hpp"

namespace elbowroom::detail {

/// The site of one collective beside one computation, whose order in time is the caller's to add. Errors are as control_site says.
Result<ControlSite> site_between(const Collective& collective, const ComputeFacts& compute, const DeviceLimits& device,
                                 const Capabilities& can);

}  // namespace elbowroom::detail
