#include "elbowroom/plan/step_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/launch_settings.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "model/work_sharing.hpp"
#include "plan/site_between.hpp"

namespace elbowroom {
namespace {

using Kinds = std::vector<std::vector<int>>;

const Operation& operation_at(const Step& step, int at) { return step.operations[static_cast<std::size_t>(at)]; }

/// Operations of one side, those of the same work on the same ranks together.
Kinds kinds_of(const Step& step, bool computing) {
  Kinds kinds;
  const std::vector<int> sharing = detail::first_sharing_memory(step);
  std::vector<std::size_t> kind_of(sharing.size());  // by the first operation of each
  for (int at = 0; at < static_cast<int>(sharing.size()); ++at) {
    if (computes(operation_at(step, at)) != computing) { continue; }
    const int first = sharing[static_cast<std::size_t>(at)];
    std::size_t& kind = kind_of[static_cast<std::size_t>(first)];
    if (first == at) {
      kind = kinds.size();
      kinds.emplace_back();
    }
    kinds[kind].push_back(at);
  }
  return kinds;
}

/// Products first: what they leave is what the others share.
std::pair<bool, double> work_of(const Operation& operation) {
  if (const auto* recorded = std::get_if<RecordedKernel>(&operation.what)) { return {false, recorded->times.front().count()}; }
  const auto& compute = std::get<Compute>(operation.what);
  if (const auto* elementwise = std::get_if<Elementwise>(&compute)) {
    return {false, static_cast<double>(elementwise->bytes.count())};
  }
  const double flop = flop_of(compute);
  return flop > 0 ? std::pair(true, flop) : std::pair(false, static_cast<double>(memory_of(compute).count()));
}

double bytes_of(const Step& step, const Operation& operation) {
  return static_cast<double>(communication_of(step, operation)->collective.bytes.count());
}

const std::vector<int>& greatest_computation(const Step& step, const Kinds& kinds) {
  return *std::ranges::max_element(kinds, {}, [&](const std::vector<int>& kind) {
    const auto [product, work] = work_of(operation_at(step, kind.front()));
    return std::pair(product, work * static_cast<double>(kind.size()));
  });
}

const std::vector<int>& greatest_communication(const Step& step, const Kinds& kinds) {
  return *std::ranges::max_element(kinds, {}, [&](const std::vector<int>& kind) {
    return bytes_of(step, operation_at(step, kind.front())) * static_cast<double>(kind.size());
  });
}

/// What all communications fix stays fixed; what one of them fixes is its own.
void keep_what_all_fix(const Step& step, const Kinds& communications, Collective& collective) {
  for (const std::vector<int>& kind : communications) {
    const Collective one = communication_of(step, operation_at(step, kind.front()))->collective;
    if (!one.comm_blocks) { collective.comm_blocks.reset(); }
    if (!one.cluster) { collective.cluster.reset(); }
  }
}

class StepSites {
 public:
  StepSites(const Step& step, const DeviceLimits& device, const FactsOf& compute, const Capabilities& can)
      : step_(step), device_(device), compute_(compute), can_(can) {
    // Two repeats have every kind of launch that more have.
    Step shortest = step;
    shortest.repeats = std::min(shortest.repeats, 2);
    gates_ = gate_possible(shortest);
    windows_ = windows_possible(shortest);
  }

  Result<StepSite> made() const {
    const Kinds computations = kinds_of(step_, true);
    const Kinds communications = kinds_of(step_, false);
    if (computations.empty()) { return invalid_input("the step has no computation, no control can act"); }
    if (communications.empty()) { return invalid_input("the step has no communication, no control can act"); }
    StepSite made;
    made.computation = greatest_computation(step_, computations).front();
    const ComputeFacts& compute = compute_(made.computation);
    Collective collective = collective_at(greatest_communication(step_, communications).front());
    for (const std::vector<int>& kind : computations) {
      if (Status added = add(made.computations, kind, collective, compute_(kind.front())); !added) { return added.error(); }
    }
    for (const std::vector<int>& kind : communications) {
      if (Status added = add(made.communications, kind, collective_at(kind.front()), compute); !added) { return added.error(); }
    }
    keep_what_all_fix(step_, communications, collective);
    Result<ControlSite> whole = site(collective, compute);
    if (!whole) { return whole.error(); }
    made.whole = *std::move(whole);
    return made;
  }

 private:
  [[nodiscard]] Collective collective_at(int operation) const {
    return communication_of(step_, operation_at(step_, operation))->collective;
  }

  [[nodiscard]] Result<ControlSite> site(const Collective& collective, const ComputeFacts& compute) const {
    Result<ControlSite> made = detail::site_between(collective, compute, device_, can_);
    if (!made) { return made; }
    made->gates = gates_;
    made->windows = windows_;
    return made;
  }

  Status add(std::vector<KindSite>& kinds, const std::vector<int>& kind, const Collective& collective,
             const ComputeFacts& compute) const {
    Result<ControlSite> made = site(collective, compute);
    if (!made) { return made.error(); }
    kinds.push_back({kind, *std::move(made)});
    return {};
  }

  const Step& step_;
  const DeviceLimits& device_;
  const FactsOf& compute_;
  const Capabilities& can_;
  Status gates_;
  Status windows_;
};

enum class Side { computation, communication };

/// Of a control that launches get; absent for one that is about their order.
std::optional<Side> side_of(const Control& control) {
  OverlapPlan set;
  control.put(set, control.least);
  if (control.consequence != nullptr) { control.consequence->put(set, control.consequence->greatest); }
  const OverlapPlan none;
  if (static_cast<const ComputeSettings&>(set) != static_cast<const ComputeSettings&>(none)) { return Side::computation; }
  if (static_cast<const CommSettings&>(set) != static_cast<const CommSettings&>(none)) { return Side::communication; }
  return std::nullopt;
}

std::size_t operations_in(std::span<const KindSite> kinds) {
  std::size_t count = 0;
  for (const KindSite& kind : kinds) { count += kind.operations.size(); }
  return count;
}

}  // namespace

Result<StepSite> step_site(const Step& step, const DeviceLimits& device, const FactsOf& compute, const Capabilities& can) {
  return StepSites(step, device, compute, can).made();
}

StepPlan spread(const StepSite& site, const OverlapPlan& plan) {
  StepPlan all(plan);
  for (const std::vector<KindSite>* side : {&site.computations, &site.communications}) {
    for (const KindSite& kind : *side) {
      const OverlapPlan own = acting_at(kind.site, plan);
      if (own == plan) { continue; }
      for (const int operation : kind.operations) { all.own.emplace(operation, own); }
    }
  }
  return all;
}

std::optional<std::string> where_it_acts(const StepSite& site, const OverlapPlan& plan) {
  std::string words;
  for (const Control& control : controls()) {
    const std::optional<std::int64_t> value = control.get(plan);
    const std::optional<Side> side = side_of(control);
    if (!value || !side) { continue; }
    const bool computing = *side == Side::computation;
    const std::vector<KindSite>& kinds = computing ? site.computations : site.communications;
    std::size_t acting = 0;
    for (const KindSite& kind : kinds) { acting += control.get(acting_at(kind.site, plan)) == value ? kind.operations.size() : 0; }
    if (acting == operations_in(kinds)) { continue; }
    words += fmt::format("{}{} on {} of {} {}", words.empty() ? "" : ", ", fmt::format(fmt::runtime(control.words), *value), acting,
                         operations_in(kinds), computing ? "computations" : "communications");
  }
  if (words.empty()) { return std::nullopt; }
  return words;
}

}  // namespace elbowroom
