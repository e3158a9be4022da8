#include "elbowroom/plan/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/plan/co_residence.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "plan/control_rows.hpp"
#include "plan/own_value.hpp"

namespace elbowroom {
namespace {

using Value = std::optional<std::int64_t>;
using detail::own_value;

/// One control's values in the space, in an order in which neighbours act alike: "off" stands where the value would stand that the
/// library or the kernel takes by itself.
struct Axis {
  const Control* control;
  std::vector<Value> values;
};

/// What a search steps through. Controls that decide which values others have come first.
const std::vector<const Control*>& searched_controls() {
  static const std::vector<const Control*> all = [] {
    std::vector<const Control*> found;
    for (const Searched when : {Searched::first, Searched::yes}) {
      for (const Control& control : controls()) {
        if (control.searched == when) { found.push_back(&control); }
      }
    }
    return found;
  }();
  return all;
}

Axis axis_of(const Control& control, const ControlSite& site, const OverlapPlan& plan) {
  if (const Value fixed = control.get(plain_plan(site))) { return {&control, {fixed}}; }
  Axis axis{&control, {std::nullopt}};
  const Result<std::vector<std::int64_t>> values = control.values(site, plan);
  if (!values) { return axis; }
  axis.values.clear();
  const std::int64_t own = own_value(control, site, plan);
  bool off_stands = false;
  for (const std::int64_t value : *values) {
    if (!off_stands && value >= own) {
      axis.values.emplace_back(std::nullopt);
      off_stands = true;
    }
    if (control.own == nullptr || value != own) { axis.values.emplace_back(value); }
  }
  if (!off_stands) { axis.values.emplace_back(std::nullopt); }
  return axis;
}

/// Without what says nothing, or cannot be said, beside the rest of the plan.
OverlapPlan on_axes(const ControlSite& site, OverlapPlan plan) {
  for (const Control* control : searched_controls()) {
    const Axis axis = axis_of(*control, site, plan);
    const Value value = control->get(plan);
    if (value && std::find(axis.values.begin(), axis.values.end(), value) == axis.values.end()) {
      control->set(site, plan, std::nullopt);
    }
  }
  return plan;
}

OverlapPlan capped(const ControlSite& site, OverlapPlan plan, Value cap) {
  residency_control().set(site, plan, cap);
  return plan;
}

OverlapPlan alone(OverlapPlan plan) {
  plan.cluster = 1;
  return plan;
}

OverlapPlan by_engines(OverlapPlan plan) {
  plan.copy_engine = true;
  return plan;
}

/// Whether launches that nothing runs beside may gain as well. On symmetric memory few blocks are as fast as the library's own
/// many, and copy engines can be faster than its kernels.
bool can_pay_alone(const OverlapPlan& plan) { return plan.symmetric || plan.copy_engine; }

/// A budget that the scenario fixes is kept.
OverlapPlan with_blocks(const ControlSite& site, OverlapPlan plan, std::int64_t blocks) {
  if (!site.collective.comm_blocks) { plan.comm_blocks = Blocks(blocks); }
  return plan;
}

/// Absent where it is not known.
std::optional<KernelFootprint> comm_under(const ControlSite& site, const OverlapPlan& plan) {
  KernelFootprint comm = site.comm;
  if (plan.symmetric) {
    const Result<CommKernel> symmetric = symmetric_comm_kernel(site.collective.op, site.can.comm_release);
    if (!symmetric) { return std::nullopt; }
    comm = symmetric->footprint;
  }
  if (plan.comm_threads) {
    comm.threads = *plan.comm_threads + site.device.warp;  // one warp synchronizes
  }
  if (plan.cluster) { comm.cluster = *plan.cluster; }
  return comm;
}

/// What keeps a communication block off an SM that is full of compute blocks; absent where that is not known.
std::optional<ResourceSet> blockers(const ControlSite& site, const OverlapPlan& plan) {
  if (!site.compute) { return std::nullopt; }
  KernelFootprint padded = *site.compute;
  padded.dynamic_shared += plan.pad;
  const Result<Occupancy> resident = occupancy(site.device, padded);
  const std::optional<KernelFootprint> comm = comm_under(site, plan);
  if (!resident || !comm || !occupancy(site.device, *comm)) { return std::nullopt; }
  return CoResidence(site.device, *site.compute, *comm).blockers(resident->residency, plan.pad);
}

Scheme scheme_of(const ControlSite& site, OverlapPlan plan) {
  const bool shaped = plan.blocks_per_sm.has_value();
  const bool priority = std::exchange(plan.priority, false);
  plan.blocks_per_sm.reset();
  plan.pad = Bytes(0);
  if (plan != plain_plan(site)) { return Scheme::tuned; }
  if (shaped) { return priority ? Scheme::shaped_priority : Scheme::shaped; }
  return priority ? Scheme::priority : Scheme::concurrent;
}

/// Blocks of the compute kernel for each SM, and how many of them run at once.
struct Load {
  std::int64_t blocks;
  std::int64_t resident;
};

std::optional<Load> load_of(const ControlSite& site) {
  if (!site.compute || !site.grid) { return std::nullopt; }
  const Result<Occupancy> own = occupancy(site.device, *site.compute);
  if (!own) { return std::nullopt; }
  return Load{(site.grid->count() + site.device.sms.count() - 1) / site.device.sms.count(), own->residency.count()};
}

/// The least residency at which all blocks of a grid still run at once; absent where they never do or where that is no cap. They
/// are spread evenly then, and what is left of each SM is another kernel's.
Value cap_of_one_wave(const ControlSite& site) {
  const std::optional<Load> load = load_of(site);
  return load && load->blocks < load->resident ? Value(load->blocks) : std::nullopt;
}

// Capped blocks of a few waves need another whole one; among many waves a cap decides how soon there is room.
constexpr std::int64_t kFewWaves = 4;

/// The cap to begin with, of at least one in ascending order: the loosest for few waves, a middle one for many.
std::int64_t first_cap(const ControlSite& site, const std::vector<std::int64_t>& caps) {
  const std::optional<Load> load = load_of(site);
  return load && load->blocks < kFewWaves * load->resident ? caps.back() : caps[caps.size() / 2];
}

Reason way_to_make_room(const ControlSite& site, const OverlapPlan& plan) {
  if (plan.comm_sms) { return {RoomMaking::sm_partition, SmShares{site.device.sms - *plan.comm_sms, *plan.comm_sms}}; }
  if (plan.sm_target) { return {RoomMaking::sm_split, SmShares{*plan.sm_target, site.device.sms - *plan.sm_target}}; }
  const std::optional<ResourceSet> blocked = blockers(site, plan);
  const bool fits = blocked && blocked->empty();
  if (plan.blocks_per_sm) { return {fits ? RoomMaking::co_resident : RoomMaking::drains_sooner}; }
  if (plan.comm_threads && fits) { return {RoomMaking::co_resident}; }
  const bool smaller =
      plan.comm_threads || plan.comm_blocks != site.collective.comm_blocks || plan.cluster != site.collective.cluster;
  if (smaller) { return {RoomMaking::smaller_collective}; }
  return {plan.priority || plan.launch_gate ? RoomMaking::order_only : RoomMaking::as_launched};
}

}  // namespace

Reason reason_of(const ControlSite& site, const OverlapPlan& plan) {
  if (plan.copy_engine && !facts_of(site.collective.op).adds_before_copies()) {
    if (plan.peer_detour) { return {RoomMaking::copy_engines_detour}; }
    // When the copy within the device, a kernel, gets its room: first, among capped blocks, or once all have begun and some ended.
    if (plan.blocks_per_sm) { return {RoomMaking::copy_engines_capped}; }
    return {plan.priority ? RoomMaking::copy_engines_first : RoomMaking::copy_engines};
  }
  Reason reason = way_to_make_room(site, plan);
  reason.symmetric = plan.symmetric;
  reason.copies_gather = plan.copy_engine;
  return reason;
}

std::string limiting_resource(const ControlSite& site, const Compute& compute, std::optional<Microseconds> compute_alone,
                              std::optional<Microseconds> comm_alone) {
  if (compute_alone && comm_alone && *comm_alone > *compute_alone) { return "link"; }
  if (std::holds_alternative<Elementwise>(compute)) { return "memory bandwidth"; }
  // A library's persistent kernel has one block on every SM, which leaves no slot whatever its resources.
  if (!site.compute) { return "SM slots"; }
  const std::optional<ResourceSet> blocked = blockers(site, plain_plan(site));
  return blocked && !blocked->empty() ? in_words(*blocked) : "SM throughput";
}

bool CandidateSpace::can_act(const OverlapPlan& plan) const { return check_plan(site_, plan) && (!accepts_ || accepts_(plan)); }

OverlapPlan CandidateSpace::sparing(OverlapPlan plan) const {
  plan.windows_only = false;
  OverlapPlan spared = plan;
  spared.windows_only = true;
  // A machine that tells no windows apart acts everywhere.
  const bool possible = detail::windows_matter(site_, plan) && (!accepts_ || accepts_(spared));
  return possible ? spared : plan;
}

OverlapPlan CandidateSpace::usual(OverlapPlan plan) const {
  plan.windows_only = false;
  const bool more_blocks = plan.comm_blocks > site_.comm_blocks;
  return scheme_of(site_, plan) == Scheme::tuned && !more_blocks ? sparing(plan) : plan;
}

void CandidateSpace::add(std::vector<OverlapPlan>& plans, const OverlapPlan& plan) const {
  const bool known = std::find(plans.begin(), plans.end(), plan) != plans.end();
  if (!known && can_act(plan)) { plans.push_back(plan); }
}

Candidate CandidateSpace::describe(const OverlapPlan& plan) const {
  return {scheme_of(site_, plan), plan, reason_of(site_, plan), std::nullopt};
}

std::vector<OverlapPlan> CandidateSpace::plans_with_copies(const OverlapPlan& plain, const OverlapPlan& urgent,
                                                           const OverlapPlan& gated) const {
  // A copy within the device is a kernel, which must not wait until compute's blocks are through. A detour has none.
  if (!facts_of(site_.collective.op).adds_before_copies()) {
    std::vector<OverlapPlan> plans{urgent, plain, plain};
    plans.back().peer_detour = true;
    if (const Value cap = cap_of_one_wave(site_)) { plans.push_back(capped(site_, urgent, cap)); }
    return plans;
  }
  // The half that has blocks gets by with fewer, as soon as it need not wait for its room.
  const OverlapPlan& ordered = can_act(gated) ? gated : urgent;
  std::vector<OverlapPlan> plans{ordered, with_blocks(site_, ordered, 16)};
  if (const auto caps = detail::residency_caps(site_)) {
    plans.push_back(with_blocks(site_, capped(site_, ordered, first_cap(site_, *caps)), 8));
  }
  return plans;
}

std::vector<OverlapPlan> CandidateSpace::symmetric_plans(const OverlapPlan& urgent, const OverlapPlan& gated) const {
  // Twice the library's own number comes close to what the links carry, four times gets it even where compute is in the way. Each
  // block has an SM to itself.
  constexpr std::int64_t blocks = 2 * kSymmetricBlocks.count();
  const OverlapPlan& first = can_act(gated) ? gated : urgent;
  const OverlapPlan ordered = with_blocks(site_, first, blocks);
  OverlapPlan split = alone(ordered);
  split.sm_target = site_.device.sms - Sms(blocks);
  const OverlapPlan many = alone(with_blocks(site_, urgent, 2 * blocks));
  std::vector<OverlapPlan> plans{with_blocks(site_, urgent, blocks), ordered, many, split};
  if (const auto caps = detail::residency_caps(site_)) { plans.push_back(capped(site_, ordered, first_cap(site_, *caps))); }
  if (facts_of(site_.collective.op).adds_before_copies()) {
    // Many blocks for the half that adds, which is through the sooner: behind a gate they need not wait for their SMs.
    const OverlapPlan many_first = alone(with_blocks(site_, first, 2 * blocks));
    for (const OverlapPlan& plan : {many_first, ordered, split}) { plans.push_back(by_engines(plan)); }
  }
  for (OverlapPlan& plan : plans) { plan.symmetric = true; }
  return plans;
}

std::vector<OverlapPlan> CandidateSpace::started_plans() const {
  const OverlapPlan plain = plain_plan(site_);
  OverlapPlan urgent = plain;
  urgent.priority = true;
  OverlapPlan gated = plain;
  gated.launch_gate = true;
  std::vector<OverlapPlan> plans{plain};
  add(plans, usual(urgent));
  add(plans, usual(gated));
  for (const OverlapPlan& plan : symmetric_plans(urgent, gated)) { add(plans, usual(plan)); }

  // SM split: as many SMs left out as the collective has blocks, each block startable alone.
  for (const std::int64_t share : {24, 16, 8}) {
    OverlapPlan split = with_blocks(site_, urgent, share);
    split.sm_target = site_.device.sms - Sms(share);
    add(plans, usual(alone(split)));
    add(plans, usual(split));
    if (share == 24) { add(plans, usual(by_engines(alone(split)))); }
  }
  // Residency caps: a middle one and the least, each with priority, without which they gain little.
  if (const auto caps = detail::residency_caps(site_)) {
    for (const std::size_t at : {caps->size() / 2, caps->size() - 1, std::size_t{0}}) {
      const OverlapPlan few = capped(site_, urgent, (*caps)[at]);
      add(plans, usual(few));
      add(plans, usual(with_blocks(site_, few, 8)));
    }
    add(plans, usual(capped(site_, plain, (*caps)[caps->size() / 2])));
  }
  for (const std::int64_t budget : {16, 8}) {
    OverlapPlan fewer = urgent;
    fewer.comm_blocks = Blocks(budget);
    add(plans, usual(fewer));
  }
  for (const OverlapPlan& plan : plans_with_copies(plain, urgent, gated)) { add(plans, usual(by_engines(plan))); }
  return plans;
}

std::vector<Candidate> CandidateSpace::starts() const {
  std::vector<Candidate> candidates{{Scheme::sequential, plain_plan(site_), {RoomMaking::no_overlap}, std::nullopt}};
  for (const OverlapPlan& plan : started_plans()) { candidates.push_back(describe(plan)); }
  return candidates;
}

std::vector<Candidate> CandidateSpace::neighbours(const OverlapPlan& plan) const {
  std::vector<OverlapPlan> plans;
  // A baseline's cap can be kept from the launches that run alone.
  if (const OverlapPlan spared = sparing(plan); spared != plan && !plan.windows_only) { add(plans, spared); }
  if (can_pay_alone(plan) && plan.windows_only) {
    OverlapPlan everywhere = plan;
    everywhere.windows_only = false;
    add(plans, everywhere);
  }
  for (const Control* control : searched_controls()) {
    const Axis axis = axis_of(*control, site_, plan);
    const auto here = std::find(axis.values.begin(), axis.values.end(), axis.control->get(plan));
    for (auto there = axis.values.begin(); there != axis.values.end(); ++there) {
      const auto distance = there > here ? there - here : here - there;
      if (distance != 1) { continue; }
      OverlapPlan moved = plan;
      control->set(site_, moved, *there);
      moved = on_axes(site_, moved);
      // A cap that is kept to windows stays there.
      add(plans, plan.windows_only && moved.blocks_per_sm ? sparing(moved) : usual(moved));
    }
  }
  std::vector<Candidate> candidates;
  candidates.reserve(plans.size());
  for (const OverlapPlan& neighbour : plans) { candidates.push_back(describe(neighbour)); }
  return candidates;
}

std::vector<Candidate> CandidateSpace::every() const {
  std::vector<OverlapPlan> plans{plain_plan(site_)};
  for (const Control* control : searched_controls()) {
    std::vector<OverlapPlan> more;
    for (const OverlapPlan& plan : plans) {
      const Axis axis = axis_of(*control, site_, plan);
      for (const Value& value : axis.values) {
        OverlapPlan moved = plan;
        axis.control->set(site_, moved, value);
        if (check_plan(site_, moved)) { more.push_back(moved); }
      }
    }
    plans = std::move(more);
  }
  std::vector<Candidate> candidates = starts();
  std::set<OverlapPlan> known;
  for (const Candidate& start : candidates) {
    if (start.scheme != Scheme::sequential) { known.insert(start.plan); }
  }
  const auto add_new = [&](const OverlapPlan& plan) {
    if (can_act(plan) && known.insert(plan).second) { candidates.push_back(describe(plan)); }
  };
  for (const OverlapPlan& plan : plans) {
    add_new(usual(plan));
    add_new(sparing(plan));
    if (can_pay_alone(plan)) { add_new(plan); }
  }
  return candidates;
}

}  // namespace elbowroom
