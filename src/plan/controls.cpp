#include "elbowroom/plan/controls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "elbowroom/plan/residency_windows.hpp"
#include "plan/sm_shares.hpp"

namespace elbowroom {
namespace {

using detail::kPartitionGranule;
using detail::kSmShares;
using Values = Result<std::vector<std::int64_t>>;
using Value = std::optional<std::int64_t>;

// Block budgets from far below to just above what NCCL takes itself; each divides into clusters of 4.
constexpr std::array<std::int64_t, 6> kBudgets{4, 8, 12, 16, 24, 32};
constexpr std::array<std::int64_t, 3> kClusters{1, 2, 4};
// Powers of two that NCCL takes as NCCL_NTHREADS.
constexpr std::array<std::int64_t, 3> kCommThreads{128, 256, 512};
constexpr std::array<std::int64_t, 3> kCarveouts{0, 50, 100};

/// Copy engines can carry all of it.
bool moves_only(CollectiveOp op) { return facts_of(op).engines == CollectiveFacts::Engines::all; }

/// Blocks that the collective will have under the plan.
Blocks blocks_of(const ControlSite& site, const OverlapPlan& plan) { return plan.comm_blocks.value_or(site.comm_blocks); }

template <std::size_t n>
std::vector<std::int64_t> list(const std::array<std::int64_t, n>& values) {
  return {values.begin(), values.end()};
}

template <class Unit>
Value count(const std::optional<Quantity<Unit>>& value) {
  return value ? Value(value->count()) : std::nullopt;
}

template <class Amount>
std::optional<Amount> amount(Value value) {
  return value ? std::optional(Amount(*value)) : std::nullopt;
}

Value on(bool set) { return set ? Value(1) : std::nullopt; }

/// An all-reduce is half a reduction, which has blocks whoever moves the other half.
Status on_the_sms(const ControlSite& site, const OverlapPlan& plan) {
  if (!plan.copy_engine || facts_of(site.collective.op).engines == CollectiveFacts::Engines::gathering_half) return {};
  return invalid_input("copy engines move the data, the collective has no blocks");
}

Values residencies(const ControlSite& site, const OverlapPlan& /*plan*/) {
  if (!site.shape_refusal.empty()) return invalid_input(site.shape_refusal);
  if (!site.compute) return invalid_input("library kernel: padding cannot act");
  const Result<std::vector<ResidencyWindow>> windows = residency_windows(site.device, *site.compute);
  if (!windows) return windows.error();
  std::vector<std::int64_t> caps;
  for (const ResidencyWindow& window : *windows) {
    if (window.pad_min > Bytes(0)) caps.push_back(window.blocks_per_sm.count());
  }
  std::reverse(caps.begin(), caps.end());
  if (caps.empty()) {
    return invalid_input(
        fmt::format("no cap is below the kernel's own residency of {} blocks per SM", windows->front().blocks_per_sm.count()));
  }
  return caps;
}

void set_residency(const ControlSite& site, OverlapPlan& plan, Value value) {
  plan.blocks_per_sm.reset();
  plan.pad = Bytes(0);
  if (!value || !site.compute) return;
  const Result<std::vector<ResidencyWindow>> windows = residency_windows(site.device, *site.compute);
  if (!windows) return;
  for (const ResidencyWindow& window : *windows) {
    if (window.blocks_per_sm.count() != *value) continue;
    plan.blocks_per_sm = window.blocks_per_sm;
    plan.pad = window.pad_min;
  }
}

Values priorities(const ControlSite& /*site*/, const OverlapPlan& /*plan*/) { return std::vector<std::int64_t>{1}; }

Values gates(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) return sms.error();
  if (site.device.vendor != Vendor::nvidia) return invalid_input(std::string(kNoGateUnderHip));
  if (site.pattern == Pattern::pair) return invalid_input("the collective is launched last, no compute kernel could wait for it");
  if (site.iterations < 2) return invalid_input("one iteration has no later compute kernel that could wait");
  return std::vector<std::int64_t>{1};
}

Values budgets(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) return sms.error();
  if (site.collective.comm_blocks) return std::vector{site.collective.comm_blocks->count()};
  return list(kBudgets);
}

Values clusters(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) return sms.error();
  if (site.collective.cluster) return std::vector<std::int64_t>{*site.collective.cluster};
  if (site.device.max_cluster < 2) return invalid_input(fmt::format("{} launches no clusters", site.device.name));
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : kClusters) {
    if (size <= site.device.max_cluster && blocks_of(site, plan).count() % size == 0) sizes.push_back(size);
  }
  return sizes;
}

Values targets(const ControlSite& site, const OverlapPlan& /*plan*/) {
  if (site.compute) return invalid_input("SM target acts only on library GEMMs, this kernel's grid is its own");
  std::vector<std::int64_t> sms;
  for (const std::int64_t share : kSmShares) {
    if (Sms(share) * 2 <= site.device.sms) sms.push_back(site.device.sms.count() - share);
  }
  std::reverse(sms.begin(), sms.end());
  if (sms.empty()) return invalid_input(fmt::format("{} SMs are too few to leave some out", site.device.sms.count()));
  return sms;
}

Values comm_threads(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) return sms.error();
  if (site.device.vendor != Vendor::nvidia) return invalid_input("RCCL takes no number of threads");
  if (facts_of(site.collective.op).exchanges) return invalid_input("NCCL's send and receive take no number of threads");
  if (plan.symmetric) return invalid_input("NCCL's kernels on symmetric memory take no number of threads");
  return list(kCommThreads);
}

Values carveouts(const ControlSite& site, const OverlapPlan& /*plan*/) {
  if (!site.compute) return invalid_input("library kernel: its carve-out is the library's");
  if (site.device.vendor != Vendor::nvidia) return invalid_input("the LDS of AMD devices is not carved out of a cache");
  return list(kCarveouts);
}

Values partitions(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) return sms.error();
  // A collective's block mostly fills an SM: fewer SMs than blocks would leave some waiting for others of the same collective.
  const Sms least = round_up(Sms(blocks_of(site, plan).count()), kPartitionGranule);
  std::vector<std::int64_t> sms;
  for (const std::int64_t share : kSmShares) {
    if (Sms(share) >= least && Sms(share) * 2 <= site.device.sms) sms.push_back(share);
  }
  if (sms.empty()) {
    return invalid_input(fmt::format("{} comm blocks need {} SMs of their own, expected at most half of {} and {}",
                                     blocks_of(site, plan).count(), least.count(), site.device.sms.count(), kSmShares.back()));
  }
  return sms;
}

Values symmetric_memory(const ControlSite& site, const OverlapPlan& plan) {
  if (Status sms = on_the_sms(site, plan); !sms) return sms.error();
  if (site.device.vendor != Vendor::nvidia) return invalid_input(std::string(kSymmetricIsOfNccl));
  if (const std::string_view who = facts_of(site.collective.op).without_symmetric; !who.empty()) {
    return invalid_input(fmt::format("{} have no kernel on symmetric memory", who));
  }
  if (plan.comm_threads) return invalid_input("NCCL's kernels on symmetric memory take no number of threads");
  return std::vector<std::int64_t>{1};
}

Values copy_engines(const ControlSite& site, const OverlapPlan& plan) {
  if (site.device.vendor != Vendor::nvidia) return invalid_input(std::string(kCopyEnginesAreOfNccl));
  const CollectiveOp op = site.collective.op;
  const CollectiveFacts& facts = facts_of(op);
  if (facts.engines == CollectiveFacts::Engines::nothing && facts.reduces) {
    return invalid_input(fmt::format("copy engines cannot reduce, and {} does nothing else", facts.name));
  }
  if (facts.engines == CollectiveFacts::Engines::nothing) return invalid_input(std::string(facts.no_engines));
  if (moves_only(op) && (site.collective.comm_blocks || site.collective.cluster)) {
    return invalid_input("copy engines have no blocks, of which the scenario fixes number or cluster");
  }
  if (moves_only(op) && (plan.launch_gate || plan.comm_sms || plan.symmetric)) {
    return invalid_input("copy engines take no SM: nothing is to be gated, set aside or made smaller");
  }
  return std::vector<std::int64_t>{1};
}

constexpr std::string_view kNoDetourAlone = "copies alone make detours, expected beside copy_engine";
constexpr std::string_view kNothingStays = "copy engines gather an all_reduce in place, nothing is copied within a device";

Values detours(const ControlSite& site, const OverlapPlan& plan) {
  if (!moves_only(site.collective.op)) return invalid_input(std::string(kNothingStays));
  if (!plan.copy_engine) return invalid_input(std::string(kNoDetourAlone));
  return std::vector<std::int64_t>{1};
}

/// Whether the plan sets what a launch outside of windows would notice; an order of launches means nothing there.
bool lasts(const ControlSite& site, const OverlapPlan& plan) {
  const bool of_compute = plan.pad != Bytes(0) || plan.sm_target || plan.carveout || plan.comm_sms;
  const bool of_collective = plan.symmetric || plan.copy_engine || plan.comm_blocks != site.collective.comm_blocks ||
                             plan.cluster != site.collective.cluster;
  return of_compute || of_collective;
}

/// All kinds of launches that the site's iterations have.
Step shortest_step(const ControlSite& site) {
  Scenario scenario;
  scenario.pattern = site.pattern;
  scenario.iterations = std::min(site.iterations, 2);
  return step_of(scenario);
}

Values window_limits(const ControlSite& site, const OverlapPlan& plan) {
  if (Status possible = windows_possible(shortest_step(site)); !possible) return possible.error();
  if (!lasts(site, plan)) return invalid_input("nothing in the plan changes a launch that runs alone");
  return std::vector<std::int64_t>{1};
}

using Site = const ControlSite&;
using Plan = const OverlapPlan&;

constexpr std::array kControls{
    Control{"blocks_per_sm", "caps compute's residency by padding", residencies,
            [](Plan plan) { return count(plan.blocks_per_sm); }, set_residency},
    Control{"priority", "dispatches communication blocks first", priorities, [](Plan plan) { return on(plan.priority); },
            [](Site, OverlapPlan& plan, Value value) { plan.priority = value.has_value(); }, true},
    Control{"launch_gate", "lets the collective's blocks become resident before the next compute kernel", gates,
            [](Plan plan) { return on(plan.launch_gate); },
            [](Site, OverlapPlan& plan, Value value) { plan.launch_gate = value.has_value(); }, true},
    Control{"comm_blocks", "limits the collective's blocks", budgets, [](Plan plan) { return count(plan.comm_blocks); },
            [](Site, OverlapPlan& plan, Value value) { plan.comm_blocks = amount<Blocks>(value); }},
    Control{"cluster", "lets the collective's blocks start in smaller groups", clusters,
            [](Plan plan) { return plan.cluster ? Value(*plan.cluster) : std::nullopt; },
            [](Site, OverlapPlan& plan, Value value) {
              plan.cluster = value ? std::optional(static_cast<int>(*value)) : std::nullopt;
            }},
    Control{"sm_target", "leaves SMs out of a library GEMM's grid", targets, [](Plan plan) { return count(plan.sm_target); },
            [](Site, OverlapPlan& plan, Value value) { plan.sm_target = amount<Sms>(value); }},
    Control{"comm_threads", "makes the collective's blocks smaller", comm_threads,
            [](Plan plan) { return count(plan.comm_threads); },
            [](Site, OverlapPlan& plan, Value value) { plan.comm_threads = amount<Threads>(value); }},
    Control{"carveout", "gives shared memory a larger share of an SM's L1", carveouts,
            [](Plan plan) { return count(plan.carveout); },
            [](Site, OverlapPlan& plan, Value value) { plan.carveout = amount<Percent>(value); }},
    Control{"comm_sms", "sets SMs aside for the collective", partitions, [](Plan plan) { return count(plan.comm_sms); },
            [](Site, OverlapPlan& plan, Value value) { plan.comm_sms = amount<Sms>(value); }},
    Control{"symmetric", "lets fewer of the collective's blocks move as much, on all ranks' memory", symmetric_memory,
            [](Plan plan) { return on(plan.symmetric); },
            [](Site, OverlapPlan& plan, Value value) { plan.symmetric = value.has_value(); }, true},
    Control{"copy_engine", "moves data without SMs; of an all_reduce, the half that gathers", copy_engines,
            [](Plan plan) { return on(plan.copy_engine); },
            [](Site, OverlapPlan& plan, Value value) { plan.copy_engine = value.has_value(); }, true},
    Control{"peer_detour", "sends to a peer and back what a kernel would copy within the device", detours,
            [](Plan plan) { return on(plan.peer_detour); },
            [](Site, OverlapPlan& plan, Value value) { plan.peer_detour = value.has_value(); }, true},
    Control{"windows_only", "leaves launches alone that run beside nothing", window_limits,
            [](Plan plan) { return on(plan.windows_only); },
            [](Site, OverlapPlan& plan, Value value) { plan.windows_only = value.has_value(); }, true},
};

Status check_control(const ControlSite& site, const OverlapPlan& plan, const Control& control) {
  const Value value = control.get(plan);
  if (!value) return {};
  // Its own value must not be what forbids it.
  OverlapPlan others = plan;
  control.set(site, others, std::nullopt);
  const Values values = control.values(site, others);
  if (!values) return invalid_input(fmt::format("{}: {}", control.name, values.error().message));
  if (std::find(values->begin(), values->end(), *value) != values->end()) return {};
  return invalid_input(fmt::format("{}: {}, expected one of {}", control.name, *value, fmt::join(*values, ", ")));
}

}  // namespace

std::span<const Control> controls() { return kControls; }

const Control& control(std::string_view name) {
  const auto found =
      std::find_if(kControls.begin(), kControls.end(), [&](const Control& candidate) { return candidate.name == name; });
  return found == kControls.end() ? kControls.front() : *found;
}

Status detour_possible(const CommSettings& settings, CollectiveOp op) {
  if (!settings.peer_detour) return {};
  if (!moves_only(op)) return invalid_input(fmt::format("peer_detour: {}", kNothingStays));
  return settings.copy_engine ? Status() : invalid_input(fmt::format("peer_detour: {}", kNoDetourAlone));
}

Status symmetric_kernel_exists(CollectiveOp op) {
  const CollectiveFacts& facts = facts_of(op);
  if (facts.without_symmetric.empty()) return {};
  return invalid_input(
      fmt::format("symmetric: true with {}, expected false ({} have no such kernel)", facts.name, facts.without_symmetric));
}

Status engines_possible(CollectiveOp op) {
  const CollectiveFacts& facts = facts_of(op);
  if (facts.engines != CollectiveFacts::Engines::nothing) return {};
  return invalid_input(fmt::format("copy_engine: true with {}, expected false ({})", facts.name, facts.no_engines));
}

OverlapPlan plain_plan(const ControlSite& site) {
  OverlapPlan plan;
  plan.comm_blocks = site.collective.comm_blocks;
  plan.cluster = site.collective.cluster;
  return plan;
}

Status check_plan(const ControlSite& site, const OverlapPlan& plan) {
  for (const Control& control : kControls) {
    if (Status legal = check_control(site, plan, control); !legal) return legal;
  }
  return {};
}

Result<ControlSite> control_site(const Scenario& scenario, const DeviceLimits& device,
                                 const std::optional<KernelFootprint>& compute, const std::string& shape_refusal) {
  const CollectiveOp op = scenario.collective.op;
  const Result<CommKernel> comm = find_comm_kernel(comm_kernel_of(op, device), device);
  if (!comm) return comm.error();
  if (const Result<Occupancy> runs = occupancy(device, comm->footprint); !runs) return runs.error();
  ControlSite site;
  site.device = device;
  site.compute = compute;
  site.grid = compute_blocks(scenario.compute);
  site.shape_refusal = shape_refusal;
  site.comm = comm->footprint;
  site.comm_blocks = scenario.collective.comm_blocks.value_or(comm_blocks_of(op, device));
  site.collective = scenario.collective;
  site.pattern = scenario.pattern;
  site.iterations = scenario.iterations;
  return site;
}

}  // namespace elbowroom
