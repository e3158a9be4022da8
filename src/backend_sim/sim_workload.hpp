#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backend_sim/run_noise.hpp"
#include "backend_sim/sim_case.hpp"
#include "elbowroom/backend/backend.hpp"

namespace elbowroom::sim {

/// A part of a run that begins when all before it has ended.
struct Stage {
  SimCase what;
  EngineRun run;
  double begin = 0;  ///< microseconds from the run's begin
};

/// A scenario on simulated devices. Nothing is allocated. But for noise the same question has the same answer, so answers are kept.
class SimWorkload final : public Workload {
 public:
  /// `scenario` is valid. `noise` scatters the times of run(), in the order of the calls. A question whose simulation takes longer than
  /// `time_limit` of the host's time is answered by an error.
  static Result<std::unique_ptr<Workload>> make(const Scenario& scenario, const DeviceLimits& device, const RunNoise& noise,
                                                std::chrono::milliseconds time_limit);

  [[nodiscard]] const ComputeFacts& compute() const override { return facts_; }
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const override;
  Result<Microseconds> run(Order order, const OverlapPlan& plan) override;
  /// One device is simulated; its spans stand for all, which are equal.
  Result<Timeline> record(Order order, const OverlapPlan& plan) override;
  /// The simulator computes no data: succeeds for every plan that could run.
  Status verify(Order order, const OverlapPlan& plan) override;

 private:
  SimWorkload(const Scenario& scenario, const DeviceLimits& device, const RunNoise& noise, std::chrono::milliseconds time_limit)
      : scenario_(scenario), device_(device), noise_(noise), time_limit_(time_limit) {}

  struct Answer {
    std::vector<Stage> stages;
    double end = 0;  ///< microseconds
  };

  Result<const Answer*> answer(Order order, const OverlapPlan& plan);
  [[nodiscard]] Result<SimCase> case_of(Order order, const OverlapPlan& plan) const;
  /// What the run is made of: one case, or three when the plan spares the launches that run alone.
  [[nodiscard]] Result<std::vector<SimCase>> stages_of(Order order, const OverlapPlan& plan) const;

  Scenario scenario_;
  DeviceLimits device_;
  RunNoise noise_;
  std::chrono::milliseconds time_limit_;
  ComputeProfile compute_;
  ComputeFacts facts_;
  std::map<std::pair<Order, OverlapPlan>, Answer> answers_;
};

}  // namespace elbowroom::sim
