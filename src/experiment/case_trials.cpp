#include "elbowroom/experiment/case_trials.hpp"

#include <utility>

namespace elbowroom {

Result<CaseTrials> CaseTrials::prepare(Backend& backend, const Scenario& scenario) {
  Result<std::unique_ptr<Workload>> workload = backend.prepare(scenario);
  if (!workload) return workload.error();
  return CaseTrials(scenario, backend.devices().front().limits, std::move(*workload));
}

CaseTrials::CaseTrials(Scenario scenario, DeviceLimits device, std::unique_ptr<Workload> workload)
    : scenario_(std::move(scenario)), device_(std::move(device)), workload_(std::move(workload)) {}

const ComputeFacts& CaseTrials::compute() const { return workload_->compute(); }

Result<ControlSite> CaseTrials::site() const {
  return control_site(scenario_, device_, compute().footprint, compute().shape_refusal);
}

Status CaseTrials::accepts(const OverlapPlan& plan) const { return workload_->accepts(plan); }

Result<Microseconds> CaseTrials::run(Order order, const OverlapPlan& plan) { return workload_->run(order, plan); }

Result<Timeline> CaseTrials::record(Order order, const OverlapPlan& plan) { return workload_->record(order, plan); }

Status CaseTrials::verify(Order order, const OverlapPlan& plan) { return workload_->verify(order, plan); }

}  // namespace elbowroom
