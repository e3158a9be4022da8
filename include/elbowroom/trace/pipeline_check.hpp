#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom {

/// Whether a recording shows what a pipeline of `iterations` promises: on every device, collective i begins only when the kernels
/// of compute i have ended. `failed` names the first that did not wait. `unavailable` when the recording is not whole: each device
/// must hold `iterations` collectives and a multiple of as many compute kernels.
ELBOWROOM_API Status check_pipeline(const Timeline& timeline, int iterations);

}  // namespace elbowroom
