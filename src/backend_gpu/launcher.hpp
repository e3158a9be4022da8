#pragma once

#include <memory>

#include "backend_gpu/platform.hpp"
#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::gpu {

/// Launches kernels of the application's own modules, from whichever copy of the runtime they come.
Result<std::unique_ptr<Launcher>> make_launcher(std::shared_ptr<const Platform> platform, int gpus);

}  // namespace elbowroom::gpu
