#pragma once

#include "backend_gpu/module_files.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// Users' modules by the driver: cubins, fatbins and PTX.
Result<gpu::ModuleFiles> user_modules();

}  // namespace elbowroom::cuda
