#pragma once

#include <memory>

#include "headroom/backend/launcher.hpp"
#include "headroom/base/result.hpp"

namespace headroom::cuda {

/// Launches through the driver, so that kernels of any copy of the runtime are welcome: the application's own is not ours.
Result<std::unique_ptr<Launcher>> make_launcher(int gpus);

}  // namespace headroom::cuda
