#pragma once

#include <memory>

#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// Launches through the driver, so that kernels of any copy of the runtime are welcome: the application's own is not ours.
Result<std::unique_ptr<Launcher>> make_launcher(int gpus);

}  // namespace elbowroom::cuda
