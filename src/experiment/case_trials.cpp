#include "elbowroom/experiment/case_trials.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "elbowroom/plan/step_site.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "experiment/lowered_programs.hpp"

namespace elbowroom {
namespace {

Result<StepSite> site_of_step(const Case& what, const DeviceLimits& device, const Workload& workload) {
  const auto* step = std::get_if<Step>(&what);
  if (step == nullptr) { return invalid_input("a scenario, expected a step"); }
  const auto facts = [&](int operation) -> const ComputeFacts& { return workload.compute(operation); };
  return step_site(*step, device, facts, workload.capabilities());
}

}  // namespace

Order order_of(Scheme scheme) { return scheme == Scheme::sequential ? Order::sequential : Order::concurrent; }

Result<CaseTrials> CaseTrials::prepare(Backend& backend, const Case& what) {
  const auto* scenario = std::get_if<Scenario>(&what);
  Result<std::unique_ptr<Workload>> workload =
      scenario != nullptr ? backend.prepare(*scenario) : backend.prepare(std::get<Step>(what));
  if (!workload) { return workload.error(); }
  return CaseTrials(what, backend.devices().front().limits, std::move(*workload));
}

CaseTrials::CaseTrials(Case what, DeviceLimits device, std::unique_ptr<Workload> workload)
    : what_(std::move(what)),
      device_(std::move(device)),
      workload_(std::move(workload)),
      step_site_(std::make_unique<const Result<StepSite>>(site_of_step(what_, device_, *workload_))),
      lowered_(std::make_unique<LoweredPrograms>()) {}

CaseTrials::~CaseTrials() = default;
CaseTrials::CaseTrials(CaseTrials&&) noexcept = default;
CaseTrials& CaseTrials::operator=(CaseTrials&&) noexcept = default;

const ComputeFacts& CaseTrials::compute() const {
  if (const Result<StepSite>& site = *step_site_; site) { return workload_->compute(site->computation); }
  static const ComputeFacts none;
  const std::vector<Operation>& operations = step().operations;
  const auto first = std::ranges::find_if(operations, computes);
  return first == operations.end() ? none : workload_->compute(static_cast<int>(first - operations.begin()));
}

Result<ControlSite> CaseTrials::site() const {
  const auto* scenario = std::get_if<Scenario>(&what_);
  const Result<StepSite>& of_step = *step_site_;
  if (scenario == nullptr) { return of_step ? Result<ControlSite>(of_step->whole) : of_step.error(); }
  return control_site(*scenario, device_, compute().footprint, compute().shape_refusal, workload_->capabilities());
}

StepPlan CaseTrials::by_operation(const OverlapPlan& plan) const {
  const Result<StepSite>& site = *step_site_;
  return site ? spread(*site, plan) : StepPlan(plan);
}

std::optional<std::string> CaseTrials::where_it_acts(const OverlapPlan& plan) const {
  const Result<StepSite>& site = *step_site_;
  return site ? elbowroom::where_it_acts(*site, plan) : std::nullopt;
}

Status CaseTrials::accepts(const OverlapPlan& plan) const {
  // Two repeats have every kind of launch that more have.
  Step shortest = step();
  shortest.repeats = std::min(shortest.repeats, 2);
  const Result<Program> program = lower(shortest, Order::concurrent, by_operation(plan));
  return program ? workload_->accepts(*program) : Status(program.error());
}

Result<const Program*> CaseTrials::program_of(Order order, const OverlapPlan& plan) {
  if (const Program* known = lowered_->find(order, plan); known != nullptr) { return known; }
  if (Status accepted = accepts(plan); !accepted) { return accepted.error(); }
  Result<Program> program = lower(step(), order, by_operation(plan));
  if (!program) { return program.error(); }
  return lowered_->keep(order, plan, *std::move(program));
}

Result<Microseconds> CaseTrials::run(Order order, const OverlapPlan& plan) {
  const Result<const Program*> program = program_of(order, plan);
  return program ? workload_->run(**program) : program.error();
}

Result<Timeline> CaseTrials::record(Order order, const OverlapPlan& plan) {
  const Result<const Program*> program = program_of(order, plan);
  return program ? workload_->record(**program) : program.error();
}

Status CaseTrials::verify(Order order, const OverlapPlan& plan) {
  const Result<const Program*> program = program_of(order, plan);
  return program ? workload_->verify(**program) : Status(program.error());
}

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
