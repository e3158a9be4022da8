#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "model/kernel_records.hpp"

namespace elbowroom {

/// The kernels of a file: a cubin, fatbin, shared library or program (by NVIDIA's cuobjdump), an AMD code object, alone or in what
/// hipcc built, what `ptxas -v` or `cuobjdump -res-usage` printed, or a folder of Triton's cache. Messages begin with `path`.
Result<std::vector<KernelRecord>> kernels_of(const std::string& path);

}  // namespace elbowroom
