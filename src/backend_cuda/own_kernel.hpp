#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom::cuda {

/// A kernel of this library, launched with padding: footprint from the driver, the right to pad up to the device's limit.
class OwnKernel {
 public:
  /// Raises the dynamic shared memory limit of `function` on devices 0..gpus-1; that alone changes no launch.
  static Result<OwnKernel> make(const void* function, dim3 grid, Threads threads, int gpus);

  [[nodiscard]] const ComputeFacts& facts() const { return facts_; }
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const;
  /// `arguments` as cudaLaunchKernelExC takes them.
  Status launch(cudaStream_t stream, const OverlapPlan& plan, void** arguments) const;

 private:
  OwnKernel(const void* function, dim3 grid, Threads threads) : function_(function), grid_(grid), threads_(threads) {}

  const void* function_;
  dim3 grid_;
  Threads threads_;
  Bytes greatest_pad_;
  ComputeFacts facts_;
};

/// What the driver says one block of a function takes on the current device.
Result<KernelFootprint> read_footprint(const void* function, Threads threads);

}  // namespace elbowroom::cuda
