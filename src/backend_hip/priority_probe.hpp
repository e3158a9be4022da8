#pragma once

#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom::hip {

class HipPlatform;

/// How long a kernel took that was launched while another filled its device, from when it could have begun.
struct PriorityEffect {
  Microseconds normal{0};  ///< on a stream of the same priority: medians
  Microseconds urgent{0};  ///< on a stream of the greatest

  /// Succeeds when the priority shows. Blocks of streams of equal priority may take turns, which alone makes the later kernel end
  /// long before the earlier. So the two are compared with each other, with a margin far above what they scatter.
  [[nodiscard]] Status acts() const;
};

/// Recent drivers take priorities and ignore them, so it is measured whether they act: on the first device, for some tens of
/// milliseconds. `invalid_input` when the driver offers one priority only.
Result<PriorityEffect> probe_priority(HipPlatform& platform);

}  // namespace elbowroom::hip
