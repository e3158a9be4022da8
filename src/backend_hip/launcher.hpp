#pragma once

#include <memory>

#include "backend_hip/hip_library.hpp"
#include "headroom/backend/launcher.hpp"
#include "headroom/base/result.hpp"

namespace headroom::hip {

/// Launches kernels of the application's own modules; `__global__` functions are welcome as what hipGetFuncBySymbol gives.
Result<std::unique_ptr<Launcher>> make_launcher(std::shared_ptr<const HipLibrary> hip, int gpus);

}  // namespace headroom::hip
