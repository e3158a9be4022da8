#include "elbowroom/experiment/case_trials.hpp"

#include <utility>

namespace elbowroom {

Result<CaseTrials> CaseTrials::prepare(Backend& backend, const Case& what) {
  const auto* scenario = std::get_if<Scenario>(&what);
  Result<std::unique_ptr<Workload>> workload =
      scenario != nullptr ? backend.prepare(*scenario) : backend.prepare(std::get<Step>(what));
  if (!workload) return workload.error();
  return CaseTrials(what, backend.devices().front().limits, std::move(*workload));
}

CaseTrials::CaseTrials(Case what, DeviceLimits device, std::unique_ptr<Workload> workload)
    : what_(std::move(what)), device_(std::move(device)), workload_(std::move(workload)) {}

const ComputeFacts& CaseTrials::compute() const { return workload_->compute(); }

Result<ControlSite> CaseTrials::site() const {
  const auto* scenario = std::get_if<Scenario>(&what_);
  if (scenario == nullptr) return invalid_input("a step has several kernels and collectives, expected a scenario");
  return control_site(*scenario, device_, compute().footprint, compute().shape_refusal, workload_->capabilities());
}

Status CaseTrials::accepts(const OverlapPlan& plan) const { return workload_->accepts(plan); }

Result<Microseconds> CaseTrials::run(Order order, const OverlapPlan& plan) { return workload_->run(order, plan); }

Result<Timeline> CaseTrials::record(Order order, const OverlapPlan& plan) { return workload_->record(order, plan); }

Status CaseTrials::verify(Order order, const OverlapPlan& plan) { return workload_->verify(order, plan); }

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
