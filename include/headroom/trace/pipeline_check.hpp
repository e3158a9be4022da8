#pragma once

#include "headroom/base/export.hpp"
#include "headroom/base/result.hpp"
#include "headroom/trace/timeline.hpp"

namespace headroom {

/// Whether a recording shows what a pipeline of `iterations` promises: on every device, collective i begins only when the kernels
/// of compute i have ended. `failed` names the first that did not wait. `unavailable` when the recording is not whole: each device
/// must hold `iterations` collectives and a multiple of as many compute kernels.
HEADROOM_API Status check_pipeline(const Timeline& timeline, int iterations);

}  // namespace headroom
