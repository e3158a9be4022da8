#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend_hip/device_code.hpp"
#include "backend_hip/hip_abi.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom::hip {

/// The compute half of a scenario with its operands on devices 0..gpus-1: inputs filled once, outputs free to poison.
class ComputeKernel {
 public:
  virtual ~ComputeKernel() = default;
  ComputeKernel(const ComputeKernel&) = delete;
  ComputeKernel& operator=(const ComputeKernel&) = delete;

  [[nodiscard]] virtual const ComputeFacts& facts() const = 0;

  /// Whether the plan's compute controls can act on this kernel; the reason otherwise.
  [[nodiscard]] virtual Status accepts(const OverlapPlan& plan) const = 0;

  /// Enqueues one launch on `stream` of `device`, which must be current, under a plan that accepts() let pass. Does not wait.
  virtual Status launch(int device, HipStream stream, const OverlapPlan& plan) = 0;

  /// Fills the outputs on every device with NaN and waits.
  virtual Status poison() = 0;
  /// Compares the outputs on every device with a reference and waits.
  virtual Status verify() = 0;

 protected:
  ComputeKernel() = default;
};

/// `devices` has at least `gpus` entries; `code` outlives the kernel. `invalid_input` when this backend has no such kernel,
/// `unavailable` without its library.
Result<std::unique_ptr<ComputeKernel>> make_compute_kernel(DeviceCode& code, const Compute& compute,
                                                           const std::vector<DeviceInfo>& devices, int gpus, std::uint64_t seed);

}  // namespace elbowroom::hip
