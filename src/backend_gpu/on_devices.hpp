#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backend_gpu/collective.hpp"
#include "backend_gpu/communicators.hpp"
#include "backend_gpu/compute_kernel.hpp"
#include "backend_gpu/peer_copies.hpp"
#include "backend_gpu/platform.hpp"
#include "backend_gpu/schedule_calls.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom::gpu {

/// What the workloads of one backend share and keep alive.
struct Machine {
  std::shared_ptr<Platform> platform;
  std::shared_ptr<const CommLibrary> comm;
};

/// Everything that a scenario has on its devices. What only some plans need is made when the first of them is run.
class OnDevices {
 public:
  using Streams = elbowroom::detail::LaneStreams<StreamHandle>;

  static Result<std::unique_ptr<OnDevices>> make(const Scenario& scenario, const Machine& machine, std::uint64_t seed);

  [[nodiscard]] const Platform& platform() const { return *machine_.platform; }
  [[nodiscard]] ComputeKernel& compute() const { return *compute_; }
  [[nodiscard]] CollectiveBuffers& collective() const { return *collective_; }
  [[nodiscard]] const std::vector<Lanes>& lanes() const { return lanes_; }
  [[nodiscard]] StartLine& start() const { return *start_; }

  /// Whether every control that `plan` sets can act here, whichever launches it is for; the reason otherwise.
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const;

  /// What the collective goes over under a plan that accepts() let pass. The first plan with a budget takes a second.
  Result<CommRoute> route_for(const OverlapPlan& plan);

  /// The compute and communication streams of such a plan.
  Result<Streams> streams_for(const OverlapPlan& plan);

  /// Ends all running collectives; nothing can be run any more.
  void abort();

 private:
  OnDevices(const Scenario& scenario, const Machine& machine) : scenario_(scenario), machine_(machine) {}

  Status build(std::uint64_t seed);
  [[nodiscard]] const Runtime& runtime() const { return machine_.platform->runtime(); }
  Result<const Communicators*> communicators_for(const CommBudget& budget);
  Result<CommRoute> route_by_detour();

  Scenario scenario_;
  Machine machine_;  // before the others, which are made with it
  std::unique_ptr<ComputeKernel> compute_;
  std::unique_ptr<CollectiveBuffers> collective_;
  std::unique_ptr<PeerCopies> detour_;  ///< of the collective; null until a plan asks for it
  std::vector<Lanes> lanes_;
  std::unique_ptr<StartLine> start_;
  std::map<Sms, std::vector<SmPartition>> partitions_;  ///< by the SMs left out, one for each device
  std::map<CommBudget, Communicators> communicators_;
  /// Why no memory can be registered between these devices, once that was tried: to hear it again takes no further communicator.
  Status windows_refused_;
};

}  // namespace elbowroom::gpu
