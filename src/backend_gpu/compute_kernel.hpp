#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend_gpu/platform.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

struct ComputeSettings;

}  // namespace elbowroom

namespace elbowroom::gpu {

/// A computation of a step with its operands on some devices: inputs filled once, outputs free to poison.
class ComputeKernel {
 public:
  virtual ~ComputeKernel() = default;
  ComputeKernel(const ComputeKernel&) = delete;
  ComputeKernel& operator=(const ComputeKernel&) = delete;

  [[nodiscard]] virtual const ComputeFacts& facts() const = 0;

  /// Enqueues one launch on `stream` of `device`, one of its own, which must be current, with settings that check_launch() let
  /// pass. Does not wait.
  virtual Status launch(int device, StreamHandle stream, const ComputeSettings& settings) = 0;

  /// Fills the outputs on each of its devices with NaN and waits.
  virtual Status poison() = 0;
  /// Compares the outputs on each of its devices with a reference and waits.
  virtual Status verify() = 0;

 protected:
  ComputeKernel() = default;
};

/// `platform` outlives the kernel. On no devices it has facts and runs nowhere. `invalid_input` when this backend has no such
/// kernel, `unavailable` without its library.
Result<std::unique_ptr<ComputeKernel>> make_compute_kernel(Platform& platform, const Compute& compute,
                                                           const std::vector<int>& devices, std::uint64_t seed);

}  // namespace elbowroom::gpu
