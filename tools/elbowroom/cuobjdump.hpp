#pragma once

#include <optional>
#include <string>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// The program: of PATH, CUDA_HOME, /usr/local/cuda, or of NVIDIA's package in the Python that programs would use.
std::optional<std::string> find_cuobjdump();

/// The output of `cuobjdump -res-usage FILE`; `unavailable` where there is no such program, `failed` where it could not read the
/// file.
Result<std::string> resource_usage_of(const std::string& file);

}  // namespace elbowroom
