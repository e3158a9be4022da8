#pragma once

#include <optional>
#include <string>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/model/kernel_footprint.hpp"

namespace elbowroom {

/// What a backend really launches for a computation.
struct ComputeFacts {
  /// Absent where a library chooses its kernel; then it cannot be shaped from outside.
  std::optional<KernelFootprint> footprint;
  std::optional<Blocks> blocks;
  std::optional<std::string> shape_refusal;  ///< why padding cannot act on it; absent: it can
};

}  // namespace elbowroom
