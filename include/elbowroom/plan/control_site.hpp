#pragma once

#include <optional>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/capabilities.hpp"

namespace elbowroom {

struct OverlapPlan;

/// Where controls are to act: the facts that decide which values of which control are legal.
struct ControlSite {
  DeviceLimits device;
  std::optional<KernelFootprint> compute;    ///< absent: a library chooses its kernel
  std::optional<Blocks> grid;                ///< of the compute kernel, where that is known beforehand
  std::optional<std::string> shape_refusal;  ///< why padding cannot act on the compute kernel; absent: it can
  KernelFootprint comm;                      ///< one block of the collective as its library launches it when nothing is said
  Blocks comm_blocks;                        ///< as many as the library then launches
  Collective collective;                     ///< a budget or cluster size given here is the user's and never overruled
  Status gates;                              ///< why no computation could wait behind a launch gate; success: one could
  Status windows;                            ///< why overlap windows cannot be told from what is outside; success: they can
  Capabilities can;                          ///< of the machine
};

/// The site of a scenario on a device. `compute`, `shape_refusal` and `can` as the backend reports them. `invalid_input` when the
/// catalog knows no communication kernel that runs on the device.
ELBOWROOM_API Result<ControlSite> control_site(const Scenario& scenario, const DeviceLimits& device,
                                               const std::optional<KernelFootprint>& compute,
                                               const std::optional<std::string>& shape_refusal, const Capabilities& can);

/// The plan of the site's own two streams: nothing but what the user fixed.
ELBOWROOM_API OverlapPlan plain_plan(const ControlSite& site);

/// The plan with those controls that can act at the site; every other one, or value, is off.
ELBOWROOM_API OverlapPlan acting_at(const ControlSite& site, const OverlapPlan& plan);

/// Succeeds when every control that `plan` sets can act at the site with that value. Otherwise `invalid_input` names the first that
/// cannot, as "cluster: 4, expected one of 1, 2" or with the control's own reason.
ELBOWROOM_API Status check_plan(const ControlSite& site, const OverlapPlan& plan);

}  // namespace elbowroom
