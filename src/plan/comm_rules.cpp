#include "plan/comm_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/step.hpp"
#include "plan/control_name.hpp"
#include "plan/sm_shares.hpp"

namespace elbowroom::detail {
namespace {

// Block budgets from far below to just above what NCCL takes itself; each divides into clusters of 4.
constexpr std::array<std::int64_t, 6> kBudgets{4, 8, 12, 16, 24, 32};
constexpr std::array<std::int64_t, 3> kClusters{1, 2, 4};

constexpr std::string_view kNoThreadsOfExchanges = "NCCL's send and receive take no number of threads";
constexpr std::string_view kNoThreadsOfSymmetric = "NCCL's kernels on symmetric memory take no number of threads";
constexpr std::string_view kNothingToSize = "copy engines have no blocks, of which the scenario fixes number or cluster";

/// Copy engines can carry all of it.
bool moves_only(CollectiveOp op) { return facts_of(op).engines == CollectiveFacts::Engines::all; }

/// Of a launch that communicates.
const CollectiveFacts& facts_at(const LaunchSite& site) {
  const auto* collective = std::get_if<Collective>(&site.operation.what);
  return facts_of(collective == nullptr ? CollectiveOp::send_recv : collective->op);
}

/// Copies make the detour, of what would stay on its device.
Status detours_from(CollectiveOp op, const OverlapPlan& plan) {
  if (!moves_only(op)) { return invalid_input("copy engines gather an all_reduce in place, nothing is copied within a device"); }
  if (plan.copy_engine) { return {}; }
  return invalid_input(fmt::format("copies alone make detours, expected beside {}", name_of<&OverlapPlan::copy_engine>()));
}

/// Blocks that the collective will have under the plan.
Blocks blocks_of(const ControlSite& site, const OverlapPlan& plan) { return plan.comm_blocks.value_or(site.comm_blocks); }

}  // namespace

Status within(std::int64_t value, std::int64_t least, std::int64_t greatest, std::string_view behind) {
  if (value >= least && value <= greatest) { return {}; }
  return invalid_input(fmt::format("{}, expected {} to {}{}", value, least, greatest, behind));
}

Status on_the_sms(const ControlSite& site, const OverlapPlan& plan) {
  if (!plan.copy_engine || facts_of(site.collective.op).adds_before_copies()) { return {}; }
  return invalid_input("copy engines move the data, the collective has no blocks");
}

// ---- comm_blocks and cluster

Values budgets(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) { return sms.error(); }
  if (site.collective.comm_blocks) { return std::vector{site.collective.comm_blocks->count()}; }
  return list(kBudgets);
}

Status can_budget(const LaunchSite& /*site*/, const OverlapPlan& asked) {
  return within(asked.comm_blocks->count(), 1, kGreatestCommBlocks.count());
}

std::int64_t own_blocks(const ControlSite& site, const OverlapPlan& plan) {
  return plan.symmetric ? kSymmetricBlocks.count() : site.comm_blocks.count();
}

Plans budget_plans(const OverlapPlan& plain, const DeviceLimits& /*device*/, const Footprint& /*footprint*/,
                   const Collective& /*collective*/) {
  if (plain.comm_blocks) {
    return invalid_input(fmt::format("the scenario fixes the collective's budget at {} blocks", plain.comm_blocks->count()));
  }
  std::vector<OverlapPlan> plans;
  for (const std::int64_t share : kSmShares) { plans.emplace_back(plain).comm_blocks = Blocks(share); }
  return plans;
}

Values clusters(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) { return sms.error(); }
  if (site.collective.cluster) { return std::vector<std::int64_t>{*site.collective.cluster}; }
  if (site.device.max_cluster < 2) { return invalid_input(fmt::format("{} launches no clusters", site.device.name)); }
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : kClusters) {
    if (size <= site.device.max_cluster && blocks_of(site, plan).count() % size == 0) { sizes.push_back(size); }
  }
  return sizes;
}

Status can_cluster(const LaunchSite& site, const OverlapPlan& asked) {
  return within(*asked.cluster, 1, site.device.max_cluster, fmt::format(" on {}", site.device.name));
}

std::int64_t own_cluster(const ControlSite& site, const OverlapPlan& /*plan*/) { return site.comm.cluster; }

// ---- comm_threads

Values comm_threads(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) { return sms.error(); }
  if (facts_of(site.collective.op).exchanges) { return invalid_input(std::string(kNoThreadsOfExchanges)); }
  if (plan.symmetric) { return invalid_input(std::string(kNoThreadsOfSymmetric)); }
  return list(kCommThreads);
}

Status can_change_threads(const LaunchSite& site, const OverlapPlan& asked) {
  if (facts_at(site).exchanges) { return invalid_input(std::string(kNoThreadsOfExchanges)); }
  constexpr std::int64_t least = 128;
  constexpr std::int64_t greatest = 640;
  const std::int64_t threads = asked.comm_threads->count();
  const std::int64_t warp = site.device.warp.count();
  if (threads >= least && threads <= greatest && threads % warp == 0) { return {}; }
  return invalid_input(fmt::format("{}, expected a multiple of {} from {} to {}", threads, warp, least, greatest));
}

// ---- comm_sms

Values partitions(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) { return sms.error(); }
  // A collective's block mostly fills an SM: fewer SMs than blocks would leave some waiting for others of the same collective.
  const Sms least = round_up(Sms(blocks_of(site, plan).count()), kPartitionGranule);
  std::vector<std::int64_t> sms;
  for (const std::int64_t share : kSmShares) {
    if (Sms(share) >= least && Sms(share) * 2 <= site.device.sms) { sms.push_back(share); }
  }
  if (sms.empty()) {
    return invalid_input(fmt::format("{} comm blocks need {} SMs of their own, expected at most half of {} and {}",
                                     blocks_of(site, plan).count(), least.count(), site.device.sms.count(), kSmShares.back()));
  }
  return sms;
}

Status can_part(const LaunchSite& site, const OverlapPlan& asked) {
  return within(asked.comm_sms->count(), 1, site.device.sms.count() - 1);
}

/// A collective's block mostly fills an SM, so a partition has one for each.
Plans partitioned_plans(const OverlapPlan& plain, const DeviceLimits& device, const Footprint& /*footprint*/,
                        const Collective& /*collective*/) {
  std::vector<OverlapPlan> plans;
  if (plain.comm_blocks) {
    plans.emplace_back(plain).comm_sms = round_up(Sms(plain.comm_blocks->count()), kPartitionGranule);
  } else {
    for (const std::int64_t share : kSmShares) {
      OverlapPlan& plan = plans.emplace_back(plain);
      plan.comm_sms = Sms(share);
      plan.comm_blocks = Blocks(share);
    }
  }
  std::erase_if(plans, [&](const OverlapPlan& made) { return *made.comm_sms * 2 > device.sms; });
  if (plans.empty()) { return invalid_input(fmt::format("{} SMs are too few to part", device.sms.count())); }
  return plans;
}

// ---- symmetric, copy_engine and peer_detour

Values symmetric_memory(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) { return sms.error(); }
  if (const auto& who = facts_of(site.collective.op).without_symmetric) {
    return invalid_input(fmt::format("{} have no kernel on symmetric memory", *who));
  }
  if (plan.comm_threads) { return invalid_input(std::string(kNoThreadsOfSymmetric)); }
  return on();
}

Status has_symmetric_kernel(const LaunchSite& site, const OverlapPlan& /*asked*/) {
  const CollectiveFacts& facts = facts_at(site);
  if (!facts.without_symmetric) { return {}; }
  return invalid_input(fmt::format("true with {}, expected false ({} have no such kernel)", facts.name, *facts.without_symmetric));
}

Values copy_engines(const ControlSite& site, const OverlapPlan& plan) {
  const CollectiveOp op = site.collective.op;
  const CollectiveFacts& facts = facts_of(op);
  if (facts.engines == CollectiveFacts::Engines::nothing && facts.reduces) {
    return invalid_input(fmt::format("copy engines cannot reduce, and {} does nothing else", facts.name));
  }
  if (facts.no_engines) { return invalid_input(std::string(*facts.no_engines)); }
  if (moves_only(op) && (site.collective.comm_blocks || site.collective.cluster)) {
    return invalid_input(std::string(kNothingToSize));
  }
  if (moves_only(op) && (plan.launch_gate || plan.comm_sms || plan.symmetric)) {
    return invalid_input("copy engines take no SM: nothing is to be gated, set aside or made smaller");
  }
  return on();
}

Status engines_carry(const LaunchSite& site, const OverlapPlan& /*asked*/) {
  const CollectiveFacts& facts = facts_at(site);
  if (!facts.no_engines) { return {}; }
  return invalid_input(fmt::format("true with {}, expected false ({})", facts.name, *facts.no_engines));
}

Plans copy_engine_plans(const OverlapPlan& plain, const DeviceLimits& /*device*/, const Footprint& /*footprint*/,
                        const Collective& collective) {
  if (!moves_only(collective.op)) {
    return invalid_input(
        fmt::format("copy engines alone cannot reduce, {} is not all_gather or all_to_all", to_string(collective.op)));
  }
  if (plain.comm_blocks || plain.cluster) { return invalid_input(std::string(kNothingToSize)); }
  std::vector<OverlapPlan> plans{plain};
  plans.front().copy_engine = true;
  return plans;
}

Values detours(const ControlSite& site, const OverlapPlan& plan) {
  const Status possible = detours_from(site.collective.op, plan);
  return possible ? on() : Values(possible.error());
}

Status can_detour(const LaunchSite& site, const OverlapPlan& asked) { return detours_from(facts_at(site).op, asked); }

}  // namespace elbowroom::detail
