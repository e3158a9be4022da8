#include "elbowroom/plan/controls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "plan/control_rows.hpp"

namespace elbowroom {
namespace {

Status check_control(const ControlSite& site, const OverlapPlan& plan, const Control& control) {
  const std::optional<std::int64_t> value = control.get(plan);
  if (!value) return {};
  // Its own value must not be what forbids it.
  OverlapPlan others = plan;
  control.set(site, others, std::nullopt);
  const Result<std::vector<std::int64_t>> values = control.values(site, others);
  if (!values) return invalid_input(fmt::format("{}: {}", control.name, values.error().message));
  if (std::find(values->begin(), values->end(), *value) != values->end()) return {};
  return invalid_input(fmt::format("{}: {}, expected one of {}", control.name, *value, fmt::join(*values, ", ")));
}

}  // namespace

std::span<const Control> controls() { return detail::control_rows(); }

const Control& control(std::string_view name) {
  const auto found = std::ranges::find(controls(), name, &Control::name);
  return found == controls().end() ? controls().front() : *found;
}

const Control& residency_control() { return controls().front(); }

Result<std::vector<std::int64_t>> Control::values(const ControlSite& site, const OverlapPlan& plan) const {
  if (needs != nullptr && !(site.can.*needs)) return (site.can.*needs).error();
  return legal(site, plan);
}

OverlapPlan plain_plan(const ControlSite& site) {
  OverlapPlan plan;
  plan.comm_blocks = site.collective.comm_blocks;
  plan.cluster = site.collective.cluster;
  return plan;
}

Status check_plan(const ControlSite& site, const OverlapPlan& plan) {
  for (const Control& control : controls()) {
    if (Status legal = check_control(site, plan, control); !legal) return legal;
  }
  return {};
}

Result<ControlSite> control_site(const Scenario& scenario, const DeviceLimits& device,
                                 const std::optional<KernelFootprint>& compute, const std::optional<std::string>& shape_refusal,
                                 const Capabilities& can) {
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
  site.can = can;
  return site;
}

}  // namespace elbowroom
