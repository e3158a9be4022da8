#pragma once

#include <memory>

#include "backend_hip/hip_library.hpp"
#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// Launches kernels of the application's own modules; `__global__` functions are welcome as what hipGetFuncBySymbol gives.
Result<std::unique_ptr<Launcher>> make_launcher(std::shared_ptr<const HipLibrary> hip, int gpus);

}  // namespace elbowroom::hip
