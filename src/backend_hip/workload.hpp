#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backend_hip/collective.hpp"
#include "backend_hip/communicators.hpp"
#include "backend_hip/compute_kernel.hpp"
#include "backend_hip/device_code.hpp"
#include "backend_hip/rccl_library.hpp"
#include "backend_hip/schedule_calls.hpp"
#include "backend_hip/start_line.hpp"
#include "elbowroom/backend/backend.hpp"

namespace elbowroom::hip {

/// What the workloads of one backend share and keep alive.
struct Machine {
  std::shared_ptr<const HipLibrary> hip;
  std::shared_ptr<const RcclLibrary> rccl;
  std::shared_ptr<DeviceCode> code;
  std::vector<DeviceInfo> devices;
  Status priority_acts;  ///< why a stream's priority has no effect here
};

class HipWorkload final : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(const Scenario& scenario, const Machine& machine, std::uint64_t seed,
                                                std::chrono::milliseconds time_limit);
  ~HipWorkload() override;

  [[nodiscard]] const ComputeFacts& compute() const override { return facts_; }
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const override;
  Result<Microseconds> run(Order order, const OverlapPlan& plan) override;
  Result<Timeline> record(Order order, const OverlapPlan& plan) override;
  Status verify(Order order, const OverlapPlan& plan) override;

 private:
  using Schedule = elbowroom::detail::Schedule<ScheduleCalls>;
  using Streams = elbowroom::detail::LaneStreams<ScheduleCalls::Stream>;

  /// Everything that lives on the devices. Given up without being freed when a schedule does not end: freeing would wait for it.
  struct OnDevices {
    Machine machine;  // first: what the others were made with
    std::unique_ptr<ComputeKernel> compute;
    std::unique_ptr<CollectiveBuffers> collective;
    std::vector<Lanes> lanes;
    std::unique_ptr<StartLine> start;
    std::map<Sms, std::vector<Stream>> masked;  ///< by the compute units that compute has, one for each device
    std::map<std::optional<Blocks>, Communicators> communicators;
    std::set<std::pair<Order, OverlapPlan>> warmed;
  };

  HipWorkload(const Scenario& scenario, const Machine& machine, std::chrono::milliseconds time_limit);

  [[nodiscard]] const HipLibrary& hip() const { return *on_devices_->machine.hip; }
  Status build(std::uint64_t seed);
  Result<const Communicators*> communicators_for(const OverlapPlan& plan);
  Result<Streams> streams_for(const OverlapPlan& plan);
  /// Refers to `plan`.
  Result<Schedule> schedule(Order order, const OverlapPlan& plan);
  /// Runs each kind of launch that was never run before, unheld: it loads kernels and connects communicators.
  Status warm(Order order, const OverlapPlan& plan);
  /// Passes `ended` on; when it is a failure, aborts all collectives and leaves the devices alone from then on.
  Status or_give_up(Status ended);

  Scenario scenario_;
  std::chrono::milliseconds time_limit_;
  ComputeFacts facts_;
  std::unique_ptr<OnDevices> on_devices_;
};

}  // namespace elbowroom::hip
