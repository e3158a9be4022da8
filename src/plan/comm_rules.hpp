#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/launch_check.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

// What the rows of the collective's controls say. Values act at a site, Status tells what a launch can have, Plans are what a
// scheme of this control alone tries.
namespace elbowroom::detail {

using Values = Result<std::vector<std::int64_t>>;
using Plans = Result<std::vector<OverlapPlan>>;
using Footprint = std::optional<KernelFootprint>;

/// Powers of two that NCCL takes; it adds a warp of its own.
inline constexpr std::array<std::int64_t, 3> kCommThreads{128, 256, 512};

/// Of a switch that can act.
inline Values on() { return std::vector<std::int64_t>{1}; }

template <std::size_t n>
std::vector<std::int64_t> list(const std::array<std::int64_t, n>& values) {
  return {values.begin(), values.end()};
}

Status within(std::int64_t value, std::int64_t least, std::int64_t greatest, std::string_view behind = "");

/// Whether the collective has blocks under the plan.
Status on_the_sms(const ControlSite& site, const OverlapPlan& plan);

Values budgets(const ControlSite& site, const OverlapPlan& plan);
Status can_budget(const LaunchSite& site, const OverlapPlan& asked);
std::int64_t own_blocks(const ControlSite& site, const OverlapPlan& plan);
Plans budget_plans(const OverlapPlan& plain, const DeviceLimits& device, const Footprint& footprint, const Collective& collective);
Values clusters(const ControlSite& site, const OverlapPlan& plan);
Status can_cluster(const LaunchSite& site, const OverlapPlan& asked);
std::int64_t own_cluster(const ControlSite& site, const OverlapPlan& plan);
Values comm_threads(const ControlSite& site, const OverlapPlan& plan);
Status can_change_threads(const LaunchSite& site, const OverlapPlan& asked);
Values partitions(const ControlSite& site, const OverlapPlan& plan);
Status can_part(const LaunchSite& site, const OverlapPlan& asked);
Plans partitioned_plans(const OverlapPlan& plain, const DeviceLimits& device, const Footprint& footprint,
                        const Collective& collective);
Values symmetric_memory(const ControlSite& site, const OverlapPlan& plan);
Status has_symmetric_kernel(const LaunchSite& site, const OverlapPlan& asked);
Values copy_engines(const ControlSite& site, const OverlapPlan& plan);
Status engines_carry(const LaunchSite& site, const OverlapPlan& asked);
Plans copy_engine_plans(const OverlapPlan& plain, const DeviceLimits& device, const Footprint& footprint,
                        const Collective& collective);
Values detours(const ControlSite& site, const OverlapPlan& plan);
Status can_detour(const LaunchSite& site, const OverlapPlan& asked);

}  // namespace elbowroom::detail
