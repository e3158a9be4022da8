#include "elbowroom/experiment/case_trials.hpp"

#include <utility>

namespace elbowroom {
namespace {

Result<StepSite> site_of_step(const Case& what, const DeviceLimits& device, const Workload& workload) {
  const auto* step = std::get_if<Step>(&what);
  if (step == nullptr) return invalid_input("a scenario, expected a step");
  const auto facts = [&](int operation) -> const ComputeFacts& { return workload.compute(operation); };
  return step_site(*step, device, facts, workload.capabilities());
}

}  // namespace

Result<CaseTrials> CaseTrials::prepare(Backend& backend, const Case& what) {
  const auto* scenario = std::get_if<Scenario>(&what);
  Result<std::unique_ptr<Workload>> workload =
      scenario != nullptr ? backend.prepare(*scenario) : backend.prepare(std::get<Step>(what));
  if (!workload) return workload.error();
  return CaseTrials(what, backend.devices().front().limits, std::move(*workload));
}

CaseTrials::CaseTrials(Case what, DeviceLimits device, std::unique_ptr<Workload> workload)
    : what_(std::move(what)),
      device_(std::move(device)),
      workload_(std::move(workload)),
      step_site_(site_of_step(what_, device_, *workload_)) {}

const ComputeFacts& CaseTrials::compute() const {
  return step_site_ ? workload_->compute(step_site_->computation) : workload_->compute();
}

Result<ControlSite> CaseTrials::site() const {
  const auto* scenario = std::get_if<Scenario>(&what_);
  if (scenario == nullptr) return step_site_ ? Result<ControlSite>(step_site_->whole) : step_site_.error();
  return control_site(*scenario, device_, compute().footprint, compute().shape_refusal, workload_->capabilities());
}

StepPlan CaseTrials::by_operation(const OverlapPlan& plan) const { return step_site_ ? spread(*step_site_, plan) : StepPlan(plan); }

std::optional<std::string> CaseTrials::where_it_acts(const OverlapPlan& plan) const {
  return step_site_ ? elbowroom::where_it_acts(*step_site_, plan) : std::nullopt;
}

Status CaseTrials::accepts(const OverlapPlan& plan) const { return workload_->accepts(by_operation(plan)); }

Result<Microseconds> CaseTrials::run(Order order, const OverlapPlan& plan) { return workload_->run(order, by_operation(plan)); }

Result<Timeline> CaseTrials::record(Order order, const OverlapPlan& plan) { return workload_->record(order, by_operation(plan)); }

Status CaseTrials::verify(Order order, const OverlapPlan& plan) { return workload_->verify(order, by_operation(plan)); }

Result<Microseconds> CaseTrials::run_alone(int operation) {
  Launch launch;
  launch.operation = operation;
  if (computes(step().operations[static_cast<std::size_t>(operation)])) {
    launch.settings = ComputeSettings{};
  } else {
    launch.settings = CommSettings{};
  }
  return workload_->run(Program{{Lane{"alone", false, std::nullopt}}, {launch}});
}

}  // namespace elbowroom
