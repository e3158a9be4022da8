#pragma once

#include <string>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// What `cuobjdump -res-usage FILE` prints. The program is that of ELBOWROOM_CUOBJDUMP, else of PATH, CUDA_HOME or
/// /usr/local/cuda; `unavailable` where there is none, `failed` where it could not read the file.
Result<std::string> resource_usage_of(const std::string& file);

}  // namespace elbowroom
