#pragma once

#include <memory>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/scheme.hpp"

namespace elbowroom {

/// How a scheme runs both sides.
constexpr Order order_of(Scheme scheme) { return scheme == Scheme::sequential ? Order::sequential : Order::concurrent; }

/// A case made ready on a backend. Experiments act through this alone: they ask for an order and a plan, never for a launch.
class CaseTrials {
 public:
  /// Takes seconds on real devices.
  ELBOWROOM_API static Result<CaseTrials> prepare(Backend& backend, const Case& what);
  /// `workload` is that of the case.
  ELBOWROOM_API CaseTrials(Case what, DeviceLimits device, std::unique_ptr<Workload> workload);

  [[nodiscard]] const Case& what() const { return what_; }
  /// Only where the case is one.
  [[nodiscard]] const Scenario& scenario() const { return std::get<Scenario>(what_); }
  [[nodiscard]] const Step& step() const { return workload_->step(); }
  [[nodiscard]] const DeviceLimits& device() const { return device_; }
  [[nodiscard]] ELBOWROOM_API const ComputeFacts& compute() const;
  /// Where controls act in the case; errors as control_site says. Of a step no such place is known.
  [[nodiscard]] ELBOWROOM_API Result<ControlSite> site() const;

  // As Workload says of each.
  [[nodiscard]] ELBOWROOM_API Status accepts(const OverlapPlan& plan) const;
  ELBOWROOM_API Result<Microseconds> run(Order order, const OverlapPlan& plan);
  ELBOWROOM_API Result<Timeline> record(Order order, const OverlapPlan& plan);
  ELBOWROOM_API Status verify(Order order, const OverlapPlan& plan);
  /// One launch of an operation of the step, with nothing beside it.
  ELBOWROOM_API Result<Microseconds> run_alone(int operation);

 private:
  Case what_;
  DeviceLimits device_;
  std::unique_ptr<Workload> workload_;
};

}  // namespace elbowroom
