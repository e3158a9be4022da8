#pragma once

#include <memory>

#include "backend_gpu/blas_library.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// `generation` is that of the HIP runtime. `unavailable` names the files that were tried.
Result<std::unique_ptr<gpu::BlasLibrary>> load_rocblas(int generation);

}  // namespace elbowroom::hip
