#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "backend_cuda/collective.hpp"
#include "backend_cuda/communicators.hpp"
#include "backend_cuda/compute_kernel.hpp"
#include "backend_cuda/nccl_library.hpp"
#include "backend_cuda/schedule_calls.hpp"
#include "backend_cuda/sm_partition.hpp"
#include "backend_cuda/start_line.hpp"
#include "elbowroom/backend/backend.hpp"

namespace elbowroom::cuda {

class CudaWorkload final : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(const Scenario& scenario, const std::vector<DeviceInfo>& devices,
                                                std::shared_ptr<const NcclLibrary> nccl, std::uint64_t seed,
                                                std::chrono::milliseconds time_limit);
  ~CudaWorkload() override;

  [[nodiscard]] const ComputeFacts& compute() const override;
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const override;
  Result<Microseconds> run(Order order, const OverlapPlan& plan) override;
  Result<Timeline> record(Order order, const OverlapPlan& plan) override;
  Status verify(Order order, const OverlapPlan& plan) override;

 private:
  using Schedule = elbowroom::detail::Schedule<ScheduleCalls>;
  using Streams = elbowroom::detail::LaneStreams<ScheduleCalls::Stream>;

  /// Everything that lives on the devices. Given up without being freed when a schedule does not end: freeing would wait for it.
  struct OnDevices {
    std::unique_ptr<ComputeKernel> compute;
    std::unique_ptr<CollectiveBuffers> collective;
    std::unique_ptr<PeerCopies> detour;  ///< of `collective`; null until a plan asks for it
    std::vector<Lanes> lanes;
    std::unique_ptr<StartLine> start;
    std::map<Sms, std::vector<SmPartition>> partitions;  ///< by the SMs left out, one for each device
    std::map<CommBudget, Communicators> communicators;
    std::set<std::pair<Order, OverlapPlan>> warmed;
  };

  CudaWorkload(const Scenario& scenario, std::shared_ptr<const NcclLibrary> nccl, std::chrono::milliseconds time_limit);

  Status build(const std::vector<DeviceInfo>& devices, std::uint64_t seed);
  /// Of what needs windows of memory that all ranks know.
  Status windows_of_memory_possible(const OverlapPlan& plan) const;
  Result<const Communicators*> communicators_for(const CommBudget& budget);
  Result<CommRoute> route_for(const OverlapPlan& plan);
  Result<CommRoute> route_by_detour();
  Result<Streams> streams_for(const OverlapPlan& plan);
  /// Refers to `plan`.
  Result<Schedule> schedule(Order order, const OverlapPlan& plan);
  /// Runs each kind of launch that was never run before, unheld: it loads kernels and connects communicators.
  Status warm(Order order, const OverlapPlan& plan);
  /// Passes `ended` on; when it is a failure, aborts all collectives and leaves the devices alone from then on.
  Status or_give_up(Status ended);

  Scenario scenario_;
  std::shared_ptr<const NcclLibrary> nccl_;
  std::chrono::milliseconds time_limit_;
  ComputeFacts facts_;
  std::unique_ptr<OnDevices> on_devices_;
  /// Why no memory can be registered between these devices, once that was tried: to hear it again takes no further communicator.
  Status windows_refused_;
};

}  // namespace elbowroom::cuda
