#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "backend_gpu/on_devices.hpp"
#include "elbowroom/backend/backend.hpp"

namespace elbowroom::gpu {

/// Runs a scenario on its devices: what is enqueued in which order is backend/schedule.hpp's, with which calls schedule_calls.hpp's.
class GpuWorkload final : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(const Scenario& scenario, const Machine& machine, std::uint64_t seed,
                                                std::chrono::milliseconds time_limit);

  [[nodiscard]] const ComputeFacts& compute() const override { return facts_; }
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const override;
  Result<Microseconds> run(Order order, const OverlapPlan& plan) override;
  Result<Timeline> record(Order order, const OverlapPlan& plan) override;
  Status verify(Order order, const OverlapPlan& plan) override;

 private:
  using Schedule = elbowroom::detail::Schedule<ScheduleCalls>;

  GpuWorkload(const Scenario& scenario, std::unique_ptr<OnDevices> on_devices, std::chrono::milliseconds time_limit)
      : scenario_(scenario), time_limit_(time_limit), facts_(on_devices->compute().facts()), on_devices_(std::move(on_devices)) {}

  /// Refers to `plan`.
  Result<Schedule> schedule(Order order, const OverlapPlan& plan);
  /// Runs each kind of launch that was never run before, unheld: it loads kernels and connects communicators.
  Status warm(Order order, const OverlapPlan& plan);
  /// Passes `ended` on; when it is a failure, aborts all collectives and leaves the devices alone from then on.
  Status or_give_up(Status ended);

  Scenario scenario_;
  std::chrono::milliseconds time_limit_;
  ComputeFacts facts_;
  /// Given up without being freed when a schedule does not end: freeing would wait for it.
  std::unique_ptr<OnDevices> on_devices_;
  std::set<std::pair<Order, OverlapPlan>> warmed_;
};

}  // namespace elbowroom::gpu
