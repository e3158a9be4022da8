#include "plan/control_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/comm_environment.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/pad_ranges.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "plan/comm_rules.hpp"
#include "plan/member_access.hpp"
#include "plan/sm_shares.hpp"

namespace elbowroom::detail {
namespace {

using Shown = PlanColumn::Shown;

constexpr std::array<std::int64_t, 3> kCarveouts{0, 50, 100};

bool is_library_gemm(const LaunchSite& site) {
  const auto* compute = std::get_if<Compute>(&site.operation.what);
  return compute != nullptr && std::holds_alternative<LibraryGemm>(*compute);
}

// ---- blocks_per_sm and the pad that follows

Values residencies(const ControlSite& site, const OverlapPlan& /*plan*/) { return residency_caps(site); }

void pad_to_residency(const ControlSite& site, OverlapPlan& plan) {
  const std::optional<BlocksPerSm> wanted = std::exchange(plan.blocks_per_sm, std::nullopt);
  plan.pad = Bytes(0);
  if (!wanted || !site.compute) { return; }
  const Result<std::vector<PadRange>> ranges = pad_ranges(site.device, *site.compute);
  if (!ranges) { return; }
  for (const PadRange& range : *ranges) {
    if (range.blocks_per_sm != *wanted) { continue; }
    plan.blocks_per_sm = range.blocks_per_sm;
    plan.pad = range.pad_min;
  }
}

Status can_pad(const LaunchSite& site, const OverlapPlan& asked) {
  if (!site.compute) {
    return invalid_input(fmt::format("library_gemm cannot be shaped: {}", site.shape_refusal.value_or(kLibraryKernel)));
  }
  return within(asked.pad.count(), 0, (site.device.shared_per_block - site.compute->static_shared).count(), " for this kernel");
}

constexpr std::int64_t kGreatestPad = std::int64_t{1} << 20;
constexpr PlanMember kPad =
    number<&OverlapPlan::pad>("pad_bytes", "B", "pad {} B",
                              {Shown::always, "pad", "", "dynamic shared memory added to every compute block"}, 0, kGreatestPad);

// ---- priority and launch_gate

Values priorities(const ControlSite& /*site*/, const OverlapPlan& /*plan*/) { return on(); }

Values gates(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) { return sms.error(); }
  return site.gates ? on() : Values(site.gates.error());
}

// ---- sm_target

Values targets(const ControlSite& site, const OverlapPlan& /*plan*/) {
  if (site.compute) { return invalid_input("SM target acts only on library GEMMs, this kernel's grid is its own"); }
  std::vector<std::int64_t> sms;
  for (const std::int64_t share : kSmShares) {
    if (Sms(share) * 2 <= site.device.sms) { sms.push_back(site.device.sms.count() - share); }
  }
  std::reverse(sms.begin(), sms.end());
  if (sms.empty()) { return invalid_input(fmt::format("{} SMs are too few to leave some out", site.device.sms.count())); }
  return sms;
}

Status can_target(const LaunchSite& site, const OverlapPlan& asked) {
  if (!is_library_gemm(site)) { return invalid_input("acts on library_gemm only, this kernel's grid is the scenario's"); }
  return within(asked.sm_target->count(), 1, site.device.sms.count());
}

Plans target_plans(const OverlapPlan& plain, const DeviceLimits& device, const Footprint& footprint,
                   const Collective& /*collective*/) {
  if (footprint) { return invalid_input("an SM target acts on library GEMMs only, this kernel's grid is its own"); }
  std::vector<OverlapPlan> plans;
  for (const std::int64_t share : kSmShares) {
    if (Sms(share) >= device.sms) { break; }
    plans.emplace_back(plain).sm_target = device.sms - Sms(share);
  }
  return plans;
}

// ---- carveout

Values carveouts(const ControlSite& site, const OverlapPlan& /*plan*/) {
  if (!site.compute) { return invalid_input("library kernel: its carve-out is the library's"); }
  return list(kCarveouts);
}

Status can_carve(const LaunchSite& site, const OverlapPlan& asked) {
  if (is_library_gemm(site)) { return invalid_input("acts on this project's kernels only, not on library_gemm"); }
  return within(asked.carveout->count(), 0, 100, " percent");
}

// ---- windows_only

Values window_limits(const ControlSite& site, const OverlapPlan& plan) {
  const Status matter = windows_matter(site, plan);
  return matter ? on() : Values(matter.error());
}

// ---- how processes are told

constexpr std::array kBlockVariables{kLeastCommBlocksVariable, kMostCommBlocksVariable};
constexpr ProcessSetting kBlocksOfProcess{kBlockVariables, kGreatestCommBlocks.count(), 8};
constexpr std::array kClusterVariables{kClusterVariable};
constexpr ProcessSetting kClusterOfProcess{kClusterVariables, kGreatestCluster};
constexpr std::array kThreadVariables{kCommThreadsVariable};
constexpr ProcessSetting kThreadsOfProcess{kThreadVariables, 512, 256, kCommThreads};
// The library's policies of default, and of no blocks where copies can do it.
constexpr std::array kPolicyVariables{kBlockPolicyVariable};
constexpr std::array<std::int64_t, 2> kOffOrOn{0, 1};
constexpr std::array<std::string_view, 2> kPolicies{"0", "2"};
constexpr ProcessSetting kEnginesOfProcess{kPolicyVariables, 1, 1, kOffOrOn, kPolicies};

constexpr std::array kRows{
    Control{
        number<&OverlapPlan::blocks_per_sm>("blocks_per_sm", "", "{} blocks/SM",
                                            {Shown::always, "blocks", "per SM", "residency to which the compute kernel is capped"}),
        {.purpose = "caps compute's residency by padding",
         .values_in_words = "residencies below the kernel's own that padding reaches",
         .refused_in_words = "library kernels; kernels in clusters; at one block per SM",
         .of_run = true,
         .legal = residencies,
         .at_launch = can_pad,
         .follow = pad_to_residency,
         .consequence = &kPad}},
    Control{toggle<&OverlapPlan::priority>("priority", "priority",
                                           {Shown::always, "prio", "", "communication stream at the device's greatest priority"}),
            {.purpose = "dispatches communication blocks first",
             .values_in_words = "on",
             .refused_in_words = "never",
             .acts_on = ActsOn::order,
             .of_run = true,
             .needs = &Capabilities::urgent_streams,
             .legal = priorities}},
    Control{toggle<&OverlapPlan::launch_gate>(
                "launch_gate", "launch gate",
                {Shown::when_used, "gate", "", "compute waits until the collective's blocks are resident"}),
            {.purpose = "lets the collective's blocks become resident before the next compute kernel",
             .values_in_words = "on",
             .refused_in_words = "a pair, a single iteration: no later kernel could wait; copy engines that move everything",
             .acts_on = ActsOn::order,
             .of_run = true,
             .needs = &Capabilities::begun_events,
             .legal = gates}},
    Control{number<&OverlapPlan::comm_blocks>("comm_blocks", "", "{} comm blocks",
                                              {Shown::always, "comm", "blocks", "block budget that the plan gives the collective"}),
            {.purpose = "limits the collective's blocks",
             .values_in_words = "4, 8, 12, 16, 24, 32",
             .refused_in_words = "with copy engines that move everything; where the scenario fixes them",
             .of_process = &kBlocksOfProcess,
             .of_run = true,
             .needs = &Capabilities::block_budgets,
             .legal = budgets,
             .at_launch = can_budget,
             .own = own_blocks,
             .peer = {Scheme::comm_blocks_only, budget_plans}}},
    Control{
        number<&OverlapPlan::cluster>("cluster", "", "cluster {}",
                                      {Shown::always, "cluster", "", "cluster size that the plan gives the collective's kernel"}),
        {.purpose = "lets the collective's blocks start in smaller groups",
         .values_in_words = "1, 2, 4, as they divide the comm blocks",
         .refused_in_words = "devices without clusters; copy engines that move everything",
         .of_process = &kClusterOfProcess,
         .of_run = true,
         .needs = &Capabilities::comm_clusters,
         .legal = clusters,
         .at_launch = can_cluster,
         .own = own_cluster}},
    Control{number<&OverlapPlan::sm_target>("sm_target", "", "SM target {}",
                                            {Shown::when_used, "SMs", "", "SM count that a library GEMM sizes itself for"}),
            {.purpose = "leaves SMs out of a library GEMM's grid",
             .values_in_words = "all SMs less 8, 16, 24, 32",
             .refused_in_words = "kernels other than library GEMMs",
             .of_run = true,
             .legal = targets,
             .at_launch = can_target,
             .peer = {Scheme::sm_target_only, target_plans}}},
    Control{number<&OverlapPlan::comm_threads>("comm_threads", "", "{} comm threads", {}),
            {.purpose = "makes the collective's blocks smaller",
             .values_in_words = "128, 256, 512",
             .refused_in_words = "RCCL; all-to-all (send and receive); copy engines that move everything; symmetric memory",
             .acts_on = ActsOn::process,
             .searched = Searched::no,
             .of_process = &kThreadsOfProcess,
             .of_run = true,
             .needs = &Capabilities::comm_threads,
             .legal = comm_threads,
             .at_launch = can_change_threads}},
    Control{number<&OverlapPlan::carveout>("carveout", "%", "carve-out {} %", {}, 0, 100),
            {.purpose = "gives shared memory a larger share of an SM's L1",
             .values_in_words = "0, 50, 100 %",
             .refused_in_words = "library kernels; AMD",
             .searched = Searched::no,
             .needs = &Capabilities::carveouts,
             .legal = carveouts,
             .at_launch = can_carve}},
    Control{number<&OverlapPlan::comm_sms>("comm_sms", "", "{} SMs for the collective alone", {}),
            {.purpose = "sets SMs aside for the collective",
             .values_in_words = "8, 16, 24, 32, one SM or more for each comm block",
             .refused_in_words = "more than half of the SMs; copy engines that move everything",
             .searched = Searched::no,
             .legal = partitions,
             .at_launch = can_part,
             .peer = {Scheme::green_context, partitioned_plans}}},
    Control{toggle<&OverlapPlan::symmetric>("symmetric", "symmetric memory", {}),
            {.purpose = "lets fewer of the collective's blocks move as much, on all ranks' memory",
             .values_in_words = "on",
             .refused_in_words = "all_to_all; copy engines that move everything; AMD; without NVLink",
             .searched = Searched::first,
             .needs = &Capabilities::symmetric,
             .legal = symmetric_memory,
             .at_launch = has_symmetric_kernel}},
    Control{toggle<&OverlapPlan::copy_engine>("copy_engine", "copy engines", {}),
            {.purpose = "moves data without SMs; of an all_reduce, the half that gathers",
             .values_in_words = "on: all of an all_gather or all_to_all, the gathering half of an all_reduce",
             .refused_in_words = "reduce_scatter; AMD",
             .searched = Searched::first,
             .of_process = &kEnginesOfProcess,
             .needs = &Capabilities::copy_engines,
             .legal = copy_engines,
             .at_launch = engines_carry,
             .peer = {Scheme::copy_engine, copy_engine_plans}}},
    Control{toggle<&OverlapPlan::peer_detour>("peer_detour", "own share by way of a peer", {}),
            {.purpose = "sends to a peer and back what a kernel would copy within the device",
             .values_in_words = "on, with copy_engine",
             .refused_in_words = "all_reduce (copy engines gather in place)",
             .searched = Searched::first,
             .needs = &Capabilities::copy_engines,
             .legal = detours,
             .at_launch = can_detour}},
    Control{toggle<&OverlapPlan::windows_only>(
                "windows_only", "in windows only",
                {Shown::when_used, "win-", "dows", "the plan acts only where both sides can run at once"}),
            {.purpose = "leaves launches alone that run beside nothing",
             .values_in_words = "on",
             .refused_in_words = "a pair, a single iteration; plans that change no launch by itself (priority, launch_gate)",
             .acts_on = ActsOn::order,
             .searched = Searched::derived,
             .legal = window_limits}},
};

}  // namespace

std::span<const Control> control_rows() { return kRows; }

Result<std::vector<std::int64_t>> residency_caps(const ControlSite& site) {
  if (site.shape_refusal) { return invalid_input(*site.shape_refusal); }
  if (!site.compute) { return invalid_input("library kernel: padding cannot act"); }
  const Result<std::vector<PadRange>> ranges = capped_pad_ranges(site.device, *site.compute);
  if (!ranges) { return ranges.error(); }
  std::vector<std::int64_t> caps;
  for (const PadRange& range : *ranges) { caps.push_back(range.blocks_per_sm.count()); }
  std::reverse(caps.begin(), caps.end());
  return caps;
}

Status windows_matter(const ControlSite& site, const OverlapPlan& plan) {
  if (!site.windows) { return site.windows; }
  // A launch outside of windows would notice what acts on launches; an order of launches means nothing there.
  const OverlapPlan plain = plain_plan(site);
  const bool lasts = std::ranges::any_of(kRows, [&](const Control& row) {
    const bool follows = row.consequence != nullptr && row.consequence->get(plan) != row.consequence->get(plain);
    return row.acts_on == ActsOn::launches && (follows || row.get(plan) != row.get(plain));
  });
  return lasts ? Status() : invalid_input("nothing in the plan changes a launch that runs alone");
}

}  // namespace elbowroom::detail
