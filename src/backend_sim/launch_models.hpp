#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend_sim/sim_program.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom::sim {

/// What simulated devices have of what controls act through: what their vendor's have, and only with NVLink what needs it.
Capabilities simulated_capabilities(const DeviceLimits& device);

/// What the simulator knows of a step's operations on one device, and which settings can act there.
class LaunchModels {
 public:
  /// `invalid_input` when an operation cannot run on the device.
  static Result<LaunchModels> make(const Step& step, const DeviceLimits& device);

  [[nodiscard]] const ComputeFacts& facts(int operation) const { return known_[static_cast<std::size_t>(operation)].facts; }

  [[nodiscard]] const Capabilities& capabilities() const { return can_; }

  /// Whether the launch's settings and those of its lane can act; the reason otherwise.
  [[nodiscard]] Status accepts(const Launch& launch, const Lane& lane) const;

  [[nodiscard]] Result<LaunchModel> model_of(const Launch& launch, const Lane& lane) const;

  /// The name of the launch's kernel in a recording.
  [[nodiscard]] std::string kernel_name(const Launch& launch) const;

 private:
  /// Of one operation.
  struct Known {
    ComputeProfile compute;  ///< of a computation
    ComputeFacts facts;
    std::optional<Communication> communication;  ///< absent: it computes
  };

  LaunchModels(const Step& step, const DeviceLimits& device) : step_(step), device_(device), can_(simulated_capabilities(device)) {}

  Step step_;
  DeviceLimits device_;
  Capabilities can_;
  std::vector<Known> known_;
};

}  // namespace elbowroom::sim
