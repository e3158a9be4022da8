#pragma once

#include <memory>

#include "backend_gpu/start_line.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// A held stream waits in the command processor and takes no SM.
Result<std::unique_ptr<gpu::StartLine>> make_start_line();

}  // namespace elbowroom::cuda
