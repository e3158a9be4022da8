#include "elbowroom/plan/scheme.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/plan/residency_windows.hpp"
#include "plan/sm_shares.hpp"

namespace elbowroom {
namespace {

constexpr std::array kSchemes{Scheme::sequential,      Scheme::concurrent, Scheme::priority,      Scheme::shaped,
                              Scheme::shaped_priority, Scheme::tuned,      Scheme::green_context, Scheme::comm_blocks_only,
                              Scheme::sm_target_only,  Scheme::copy_engine};
constexpr std::size_t kBaselines = 5;

using detail::kPartitionGranule;
using detail::kSmShares;
using Plans = Result<std::vector<OverlapPlan>>;

Plans capped_plans(OverlapPlan plan, const DeviceLimits& device, const std::optional<KernelFootprint>& footprint) {
  if (!footprint) return invalid_input("the kernel is a library's own, its launches cannot be padded from outside");
  const Result<std::vector<ResidencyWindow>> windows = residency_windows(device, *footprint);
  if (!windows) return windows.error();
  std::vector<OverlapPlan> plans;
  for (const ResidencyWindow& window : *windows) {
    if (window.pad_min == Bytes(0)) continue;  // what the kernel has without padding
    plan.blocks_per_sm = window.blocks_per_sm;
    plan.pad = window.pad_min;
    plans.push_back(plan);
  }
  if (plans.empty()) {
    return invalid_input(
        fmt::format("no cap is below the kernel's own residency of {} blocks per SM", windows->front().blocks_per_sm.count()));
  }
  return plans;
}

/// A collective's block mostly fills an SM, so a partition has one for each.
Plans partitioned_plans(OverlapPlan plan, const DeviceLimits& device) {
  std::vector<OverlapPlan> plans;
  if (plan.comm_blocks) {
    plan.comm_sms = round_up(Sms(plan.comm_blocks->count()), kPartitionGranule);
    plans.push_back(plan);
  } else {
    for (const std::int64_t share : kSmShares) {
      plan.comm_sms = Sms(share);
      plan.comm_blocks = Blocks(share);
      plans.push_back(plan);
    }
  }
  std::erase_if(plans, [&](const OverlapPlan& made) { return *made.comm_sms * 2 > device.sms; });
  if (plans.empty()) return invalid_input(fmt::format("{} SMs are too few to part", device.sms.count()));
  return plans;
}

Plans budget_plans(OverlapPlan plan) {
  if (plan.comm_blocks) {
    return invalid_input(fmt::format("the scenario fixes the collective's budget at {} blocks", plan.comm_blocks->count()));
  }
  std::vector<OverlapPlan> plans;
  for (const std::int64_t share : kSmShares) {
    plan.comm_blocks = Blocks(share);
    plans.push_back(plan);
  }
  return plans;
}

Plans target_plans(OverlapPlan plan, const DeviceLimits& device, const std::optional<KernelFootprint>& footprint) {
  if (footprint) return invalid_input("an SM target acts on library GEMMs only, this kernel's grid is its own");
  std::vector<OverlapPlan> plans;
  for (const std::int64_t share : kSmShares) {
    if (Sms(share) >= device.sms) break;
    plan.sm_target = device.sms - Sms(share);
    plans.push_back(plan);
  }
  return plans;
}

Plans copy_engine_plans(OverlapPlan plan, const Collective& collective) {
  if (facts_of(collective.op).engines != CollectiveFacts::Engines::all) {
    return invalid_input(
        fmt::format("copy engines alone cannot reduce, {} is not all_gather or all_to_all", to_string(collective.op)));
  }
  if (plan.comm_blocks || plan.cluster) {
    return invalid_input("copy engines have no blocks, of which the scenario fixes number or cluster");
  }
  plan.copy_engine = true;
  return std::vector{plan};
}

}  // namespace

std::span<const Scheme> schemes() { return kSchemes; }

std::span<const Scheme> baselines() { return std::span(kSchemes).first(kBaselines); }

std::string_view to_string(Scheme scheme) {
  switch (scheme) {
    case Scheme::sequential:
      return "sequential";
    case Scheme::concurrent:
      return "concurrent";
    case Scheme::priority:
      return "priority";
    case Scheme::shaped:
      return "shaped";
    case Scheme::shaped_priority:
      return "shaped_priority";
    case Scheme::tuned:
      return "tuned";
    case Scheme::green_context:
      return "green_context";
    case Scheme::comm_blocks_only:
      return "comm_blocks_only";
    case Scheme::sm_target_only:
      return "sm_target_only";
    case Scheme::copy_engine:
      return "copy_engine";
  }
  return "";
}

Result<Scheme> parse_scheme(std::string_view name) {
  std::string names;
  for (const Scheme scheme : kSchemes) {
    if (to_string(scheme) == name) return scheme;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(scheme));
  }
  return invalid_input(fmt::format("scheme: '{}', expected one of {}", name, names));
}

Result<std::vector<OverlapPlan>> scheme_plans(Scheme scheme, const DeviceLimits& device,
                                              const std::optional<KernelFootprint>& footprint, const Collective& collective) {
  OverlapPlan plan;
  plan.priority = scheme == Scheme::priority || scheme == Scheme::shaped_priority;
  plan.comm_blocks = collective.comm_blocks;
  plan.cluster = collective.cluster;
  switch (scheme) {
    case Scheme::sequential:
    case Scheme::concurrent:
    case Scheme::priority:
      return std::vector{plan};
    case Scheme::shaped:
    case Scheme::shaped_priority:
      return capped_plans(plan, device, footprint);
    case Scheme::tuned:
      return invalid_input("tuned: its plan is looked up in a profile, expected a scheme whose plans follow from the kernels");
    case Scheme::green_context:
      return partitioned_plans(plan, device);
    case Scheme::comm_blocks_only:
      return budget_plans(plan);
    case Scheme::sm_target_only:
      return target_plans(plan, device, footprint);
    case Scheme::copy_engine:
      return copy_engine_plans(plan, collective);
  }
  return invalid_input("scheme: unknown");
}

}  // namespace elbowroom
