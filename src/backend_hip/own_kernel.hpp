#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend_hip/device_code.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom::hip {

/// A kernel of this library, launched with padding: footprint from the runtime, a pad of what a launch may still ask for.
class OwnKernel {
 public:
  /// On devices 0..gpus-1 of `devices`.
  static Result<OwnKernel> make(DeviceCode& code, const std::string& kernel, Extent grid, Threads threads,
                                const std::vector<DeviceInfo>& devices, int gpus);

  [[nodiscard]] const ComputeFacts& facts() const { return facts_; }
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const;
  /// `arguments` as pointers_to() gives them; `device` must be current.
  Status launch(int device, HipStream stream, const OverlapPlan& plan, std::span<void* const> arguments) const;

 private:
  OwnKernel(const HipLibrary& hip, Extent grid, Threads threads) : hip_(&hip), grid_(grid), threads_(threads) {}

  const HipLibrary* hip_;
  Extent grid_;
  Threads threads_;
  std::vector<HipFunction> functions_;  ///< one for each device
  Bytes greatest_pad_;
  ComputeFacts facts_;
};

/// What the runtime says one block of a function takes, beside the dynamic shared memory of a launch.
Result<KernelFootprint> read_footprint(const HipLibrary& hip, HipFunction function, Threads threads);

}  // namespace elbowroom::hip
