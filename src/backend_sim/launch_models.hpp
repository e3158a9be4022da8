#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend_sim/sim_program.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom::sim {

/// What the simulator knows of a step's operations on one device, and which settings can act there.
class LaunchModels {
 public:
  /// `invalid_input` when an operation cannot run on the device.
  static Result<LaunchModels> make(const Step& step, const DeviceLimits& device);

  [[nodiscard]] const ComputeFacts& facts(int operation) const { return known_[static_cast<std::size_t>(operation)].facts; }

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

  LaunchModels(const Step& step, const DeviceLimits& device) : step_(step), device_(device) {}
  [[nodiscard]] Status accepts(const Operation& operation, const Known& known, const ComputeSettings& settings) const;

  Step step_;
  DeviceLimits device_;
  std::vector<Known> known_;
};

}  // namespace elbowroom::sim
