#pragma once

#include <map>
#include <memory>
#include <utility>

#include "backend_sim/sim_case.hpp"
#include "headroom/backend/backend.hpp"

namespace headroom::sim {

/// A scenario on simulated devices. Nothing is allocated and the same question has the same answer, so answers are kept.
class SimWorkload final : public Workload {
 public:
  /// `scenario` is valid.
  static Result<std::unique_ptr<Workload>> make(const Scenario& scenario, const DeviceLimits& device);

  [[nodiscard]] const ComputeFacts& compute() const override { return facts_; }
  Result<Microseconds> run(Order order, const OverlapPlan& plan) override;
  /// One device is simulated; its spans stand for all, which are equal.
  Result<Timeline> record(Order order, const OverlapPlan& plan) override;
  /// The simulator computes no data: succeeds for every plan that could run.
  Status verify(Order order, const OverlapPlan& plan) override;

 private:
  SimWorkload(const Scenario& scenario, const DeviceLimits& device) : scenario_(scenario), device_(device) {}

  [[nodiscard]] Status accepts(const OverlapPlan& plan) const;
  [[nodiscard]] Result<SimCase> case_of(Order order, const OverlapPlan& plan) const;

  Scenario scenario_;
  DeviceLimits device_;
  ComputeProfile compute_;
  ComputeFacts facts_;
  std::map<std::pair<Order, OverlapPlan>, Microseconds> answers_;
};

}  // namespace headroom::sim
