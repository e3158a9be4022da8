#pragma once

#include <functional>

#include "elbowroom/base/result.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::cuda {

/// Runs `work` while CUPTI records every kernel and copy of this process, and returns what ran. `work` must leave the devices idle.
/// Recording slows launches and may serialise some: times taken in `work` mean nothing. One call at a time in a process.
/// `unavailable` when CUPTI cannot be loaded or this build has none.
Result<Timeline> record_kernels(const std::function<Status()>& work);

}  // namespace elbowroom::cuda
