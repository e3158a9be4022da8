#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "model/kernel_records.hpp"

namespace elbowroom {

/// The kernels of a file or of a folder of Triton's cache. NVIDIA's cuobjdump reads cubins, fatbins, libraries and programs. AMD
/// code objects may stand alone or in what hipcc built. A text is the output of `ptxas -v` or `cuobjdump -res-usage`. Messages
/// begin with `path`.
Result<std::vector<KernelRecord>> kernels_of(const std::string& path);

}  // namespace elbowroom
