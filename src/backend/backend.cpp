#include "elbowroom/backend/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "elbowroom/backend/launcher.hpp"

namespace elbowroom {
namespace {

// Of the programs that a workload keeps; some hundred megabytes.
constexpr std::size_t kMostPrepared = 1 << 20;

}  // namespace

const ComputeFacts& Workload::compute() const {
  static const ComputeFacts none;
  const std::vector<Operation>& operations = step().operations;
  const auto first = std::ranges::find_if(operations, computes);
  return first == operations.end() ? none : compute(static_cast<int>(first - operations.begin()));
}

Status Workload::accepts(const StepPlan& plan) const {
  // Two repeats have every kind of launch that more have.
  Step shortest = step();
  shortest.repeats = std::min(shortest.repeats, 2);
  const Result<Program> program = lower(shortest, Order::concurrent, plan);
  return program ? accepts(*program) : Status(program.error());
}

Result<const Program*> Workload::program_of(Order order, const StepPlan& plan) {
  const std::pair question(order, plan);
  if (const auto known = lowered_.find(question); known != lowered_.end()) return &known->second;
  // A control that cannot act is refused whatever the order is.
  if (Status accepted = accepts(plan); !accepted) return accepted.error();
  Result<Program> program = lower(step(), order, plan);
  if (!program) return program.error();
  if (lowered_launches_ + program->launches.size() > kMostPrepared) {
    lowered_.clear();
    lowered_launches_ = 0;
  }
  lowered_launches_ += program->launches.size();
  return &lowered_.emplace(question, std::move(*program)).first->second;
}

Result<Microseconds> Workload::run(Order order, const StepPlan& plan) {
  const Result<const Program*> program = program_of(order, plan);
  return program ? run(**program) : program.error();
}

Result<Timeline> Workload::record(Order order, const StepPlan& plan) {
  const Result<const Program*> program = program_of(order, plan);
  return program ? record(**program) : program.error();
}

Status Workload::verify(Order order, const StepPlan& plan) {
  const Result<const Program*> program = program_of(order, plan);
  return program ? verify(**program) : Status(program.error());
}

Result<std::unique_ptr<Workload>> Backend::prepare(const Scenario& scenario) {
  if (Status valid = validate(scenario); !valid) return valid.error();
  return prepare(step_of(scenario));
}

Result<std::unique_ptr<Launcher>> Backend::launcher(int) {
  return unavailable(fmt::format("backend {}: runs scenarios, it launches no kernels of an application", name()));
}

}  // namespace elbowroom
