#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend_sim/sim_program.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/network/machine.hpp"
#include "elbowroom/network/ring_time.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/compute_facts.hpp"

namespace elbowroom::sim {

/// What simulated devices have of what controls act through: what their vendor's have, and only with NVLink what needs it.
Capabilities simulated_capabilities(const DeviceLimits& device);

/// What the simulator knows of a step's operations on one device, and which settings can act there.
class LaunchModels {
 public:
  /// `machine`: what joins hosts; absent: there is one. `invalid_input` when an operation cannot run on the device.
  static Result<LaunchModels> make(const Step& step, const DeviceLimits& device, const std::optional<MachineSpec>& machine = {});

  [[nodiscard]] const ComputeFacts& facts(int operation) const { return known_[static_cast<std::size_t>(operation)].facts; }

  [[nodiscard]] const Capabilities& capabilities() const { return can_; }

  /// Whether the launch's settings and those of its lane can act; the reason otherwise.
  [[nodiscard]] Status accepts(const Launch& launch, const Lane& lane) const;

  [[nodiscard]] Result<LaunchModel> model_of(const Launch& launch, const Lane& lane) const;

  /// The name of the launch's kernel in a recording.
  [[nodiscard]] std::string kernel_name(const Launch& launch) const;

 private:
  void lack_between_hosts();

  /// Of one operation.
  struct Known {
    ComputeProfile compute;  ///< of a computation
    ComputeFacts facts;
    std::optional<Communication> communication;  ///< absent: it computes
    std::optional<RingPlace> place = {};         ///< absent: its communicators have a host each
  };

  LaunchModels(const Step& step, const DeviceLimits& device, const std::optional<MachineSpec>& machine)
      : step_(step), device_(device), machine_(machine), can_(simulated_capabilities(device)) {}

  Step step_;
  DeviceLimits device_;
  std::optional<MachineSpec> machine_;
  Capabilities can_;
  std::vector<Known> known_;
};

}  // namespace elbowroom::sim
