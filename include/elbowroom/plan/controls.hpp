#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom {

/// Why no launch gate acts on AMD devices.
inline constexpr std::string_view kNoGateUnderHip = "HIP has no event that says that a kernel's blocks have begun";
/// Why no collective of theirs uses copy engines.
inline constexpr std::string_view kCopyEnginesAreOfNccl = "copy-engine collectives are NCCL's";
/// Why no collective of theirs works on symmetric memory.
inline constexpr std::string_view kSymmetricIsOfNccl = "kernels on symmetric memory are NCCL's";
/// What a backend says of a plan that asks for kernels on symmetric memory where NCCL has none for the operation.
ELBOWROOM_API Status symmetric_kernel_exists(CollectiveOp op);
/// What a backend says of a plan that asks copy engines for an operation of which they can carry nothing.
ELBOWROOM_API Status engines_possible(CollectiveOp op);
/// What a backend says of settings whose `peer_detour` has nothing to act on in a collective of that kind.
ELBOWROOM_API Status detour_possible(const CommSettings& settings, CollectiveOp op);

/// Where controls are to act: the facts that decide which values of which control are legal.
struct ControlSite {
  DeviceLimits device;
  std::optional<KernelFootprint> compute;  ///< absent: a library chooses its kernel
  std::optional<Blocks> grid;              ///< of the compute kernel, where that is known beforehand
  std::string shape_refusal;               ///< why padding cannot act on the compute kernel; empty: it can
  KernelFootprint comm;                    ///< one block of the collective as its library launches it when nothing is said
  Blocks comm_blocks;                      ///< as many as the library then launches
  Collective collective;                   ///< a budget or cluster size given here is the user's and never overruled
  Pattern pattern = Pattern::pipeline;
  int iterations = 1;
};

/// The site of a scenario on a device. `compute` and `shape_refusal` as the backend reports them. `invalid_input` when the catalog
/// knows no communication kernel that runs on the device.
ELBOWROOM_API Result<ControlSite> control_site(const Scenario& scenario, const DeviceLimits& device,
                                               const std::optional<KernelFootprint>& compute, const std::string& shape_refusal);

/// A control: one member of OverlapPlan, with the values that can act somewhere. Values are counts in the member's unit; switches
/// have the one value 1.
struct Control {
  std::string_view name;  ///< the member's name in JSON
  std::string_view purpose;
  /// In ascending order, at least one; none of them is "off". `plan` holds what the other controls already say. `invalid_input`
  /// says why the control cannot act there.
  Result<std::vector<std::int64_t>> (*values)(const ControlSite& site, const OverlapPlan& plan);
  /// Absent: off.
  std::optional<std::int64_t> (*get)(const OverlapPlan& plan);
  /// One of `values`, or off. Leaves every other control as it is.
  void (*set)(const ControlSite& site, OverlapPlan& plan, std::optional<std::int64_t> value);
  bool is_switch = false;  ///< on or off, no number
};

/// In the order of the plan's JSON: blocks_per_sm, priority, launch_gate, comm_blocks, cluster, sm_target, comm_threads, carveout,
/// comm_sms, symmetric, copy_engine, peer_detour, windows_only. The pad follows from blocks_per_sm.
ELBOWROOM_API std::span<const Control> controls();

/// The control of that name, which must be one of controls().
ELBOWROOM_API const Control& control(std::string_view name);

/// The plan of the site's own two streams: nothing but what the user fixed.
ELBOWROOM_API OverlapPlan plain_plan(const ControlSite& site);

/// Succeeds when every control that `plan` sets can act at the site with that value; otherwise `invalid_input` names the first that
/// cannot, as "cluster: 4, expected one of 1, 2" or with the control's own reason.
ELBOWROOM_API Status check_plan(const ControlSite& site, const OverlapPlan& plan);

}  // namespace elbowroom
