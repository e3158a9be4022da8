#pragma once

#include "backend_gpu/comm_library.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// `unavailable` names the files that were tried. It stays loaded until the process ends. Budgets exist since 2.17 (ROCm 5.7).
Result<gpu::CommLibrary> load_rccl();

}  // namespace elbowroom::hip
