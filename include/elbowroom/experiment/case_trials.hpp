#pragma once

#include <memory>
#include <optional>
#include <string>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

class LoweredPrograms;
enum class Order;
enum class Scheme;
struct ComputeFacts;
struct ControlSite;
struct OverlapPlan;
struct Program;
struct StepPlan;
struct StepSite;
struct Timeline;

/// How a scheme runs both sides.
ELBOWROOM_API Order order_of(Scheme scheme);

/// A case made ready on a backend. Experiments act through this alone: they ask for an order and a plan, never for a launch.
class CaseTrials {
 public:
  /// Takes seconds on real devices.
  ELBOWROOM_API static Result<CaseTrials> prepare(Backend& backend, const Case& what);
  /// `workload` is that of the case.
  ELBOWROOM_API CaseTrials(Case what, DeviceLimits device, std::unique_ptr<Workload> workload);
  ELBOWROOM_API ~CaseTrials();
  ELBOWROOM_API CaseTrials(CaseTrials&&) noexcept;
  ELBOWROOM_API CaseTrials& operator=(CaseTrials&&) noexcept;

  [[nodiscard]] const Case& what() const { return what_; }
  /// Only where the case is one.
  [[nodiscard]] const Scenario& scenario() const { return std::get<Scenario>(what_); }
  [[nodiscard]] const Step& step() const { return workload_->step(); }
  [[nodiscard]] const DeviceLimits& device() const { return device_; }
  /// Of a step the greatest computation.
  [[nodiscard]] ELBOWROOM_API const ComputeFacts& compute() const;
  /// Where controls act in the case, of a step StepSite::whole; errors as control_site and step_site say.
  [[nodiscard]] ELBOWROOM_API Result<ControlSite> site() const;
  /// What each operation gets of a plan for the whole case. Of a scenario that is all of it, of a step what can act there, as
  /// spread() says.
  [[nodiscard]] ELBOWROOM_API StepPlan by_operation(const OverlapPlan& plan) const;
  /// Which controls of a plan act on a part of a step's operations only; absent where each acts on all.
  [[nodiscard]] ELBOWROOM_API std::optional<std::string> where_it_acts(const OverlapPlan& plan) const;

  // As Workload says of each, of the step's program under by_operation(plan). A control that cannot act is refused whatever the
  // order is.
  [[nodiscard]] ELBOWROOM_API Status accepts(const OverlapPlan& plan) const;
  /// The schedule, everything decided: what the three below act on. Lowered at the first call and kept. The pointer holds until the
  /// next call of any of them.
  [[nodiscard]] ELBOWROOM_API Result<const Program*> program_of(Order order, const OverlapPlan& plan);
  ELBOWROOM_API Result<Microseconds> run(Order order, const OverlapPlan& plan);
  ELBOWROOM_API Result<Timeline> record(Order order, const OverlapPlan& plan);
  ELBOWROOM_API Status verify(Order order, const OverlapPlan& plan);
  /// One launch of an operation of the step, with nothing beside it.
  ELBOWROOM_API Result<Microseconds> run_alone(int operation);

 private:
  Case what_;
  DeviceLimits device_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<const Result<StepSite>> step_site_;  ///< an error where the case is no step
  std::unique_ptr<LoweredPrograms> lowered_;
};

}  // namespace elbowroom
