#include "elbowroom/plan/controls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "plan/control_name.hpp"
#include "plan/control_rows.hpp"
#include "plan/site_between.hpp"

namespace elbowroom {
namespace {

Status check_control(const ControlSite& site, const OverlapPlan& plan, const Control& control) {
  const std::optional<std::int64_t> value = control.get(plan);
  if (!value) { return {}; }
  // Its own value must not be what forbids it.
  OverlapPlan others = plan;
  control.set(site, others, std::nullopt);
  const Result<std::vector<std::int64_t>> values = control.values(site, others);
  if (!values) { return invalid_input(fmt::format("{}: {}", control.name, values.error().message)); }
  if (std::find(values->begin(), values->end(), *value) != values->end()) { return {}; }
  return invalid_input(fmt::format("{}: {}, expected one of {}", control.name, *value, fmt::join(*values, ", ")));
}

}  // namespace

std::span<const Control> controls() { return detail::control_rows(); }

const Control& control(std::string_view name) {
  const auto found = std::ranges::find(controls(), name, &Control::name);
  return found == controls().end() ? controls().front() : *found;
}

std::string_view detail::name_of_row(MemberValue (*get)(const OverlapPlan& plan)) {
  for (const Control& row : controls()) {
    if (row.get == get) { return row.name; }
    if (row.consequence != nullptr && row.consequence->get == get) { return row.consequence->name; }
  }
  return controls().front().name;
}

const Control& residency_control() { return controls().front(); }

Result<std::vector<std::int64_t>> Control::values(const ControlSite& site, const OverlapPlan& plan) const {
  if (needs != nullptr && !(site.can.*needs)) { return (site.can.*needs).error(); }
  return legal(site, plan);
}

OverlapPlan acting_at(const ControlSite& site, const OverlapPlan& plan) {
  OverlapPlan acting = plain_plan(site);
  const auto add = [&](const Control& control) {
    const std::optional<std::int64_t> value = control.get(plan);
    if (!value) { return; }
    const Result<std::vector<std::int64_t>> values = control.values(site, acting);
    if (values && std::ranges::find(*values, *value) != values->end()) { control.set(site, acting, value); }
  };
  // Who moves the data decides what else there is to control.
  const auto decides = [](const Control& control) { return control.searched == Searched::first; };
  for (const Control& control : controls()) {
    if (decides(control)) { add(control); }
  }
  for (const Control& control : controls()) {
    if (!decides(control)) { add(control); }
  }
  return acting;
}

OverlapPlan plain_plan(const ControlSite& site) {
  OverlapPlan plan;
  plan.comm_blocks = site.collective.comm_blocks;
  plan.cluster = site.collective.cluster;
  return plan;
}

Status check_plan(const ControlSite& site, const OverlapPlan& plan) {
  for (const Control& control : controls()) {
    if (Status legal = check_control(site, plan, control); !legal) { return legal; }
  }
  return {};
}

Result<ControlSite> detail::site_between(const Collective& collective, const ComputeFacts& compute, const DeviceLimits& device,
                                         const Capabilities& can) {
  const Result<CommKernel> comm = find_comm_kernel(comm_kernel_of(collective.op, device, can.comm_release), device);
  if (!comm) { return comm.error(); }
  if (const Result<Occupancy> runs = occupancy(device, comm->footprint); !runs) { return runs.error(); }
  ControlSite site;
  site.device = device;
  site.compute = compute.footprint;
  site.grid = compute.blocks;
  site.shape_refusal = compute.shape_refusal;
  site.comm = comm->footprint;
  site.comm_blocks = collective.comm_blocks.value_or(comm_blocks_of(collective.op, device));
  site.collective = collective;
  site.can = can;
  return site;
}

Result<ControlSite> control_site(const Scenario& scenario, const DeviceLimits& device,
                                 const std::optional<KernelFootprint>& compute, const std::optional<std::string>& shape_refusal,
                                 const Capabilities& can) {
  const ComputeFacts facts{compute, compute_blocks(scenario.compute), shape_refusal};
  Result<ControlSite> site = detail::site_between(scenario.collective, facts, device, can);
  if (!site) { return site; }
  // Two iterations have every kind of launch that more have.
  Scenario shortest = scenario;
  shortest.iterations = std::min(shortest.iterations, 2);
  site->gates = gate_possible(step_of(shortest));
  site->windows = windows_possible(step_of(shortest));
  return site;
}

}  // namespace elbowroom
