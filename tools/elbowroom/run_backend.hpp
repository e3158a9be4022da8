#pragma once

#include <string_view>

#include "elbowroom/base/result.hpp"
#include "preload/backend.hpp"

namespace elbowroom {

/// A word of --backend. `auto` is HIP where its runtime sees a GPU and CUDA's driver cannot be loaded, and CUDA otherwise: the
/// command sees the same libraries as this process.
Result<preload::RunBackend> choose_run_backend(std::string_view word);

/// Whether the library of its driver is here.
bool driver_can_be_loaded(preload::RunBackend backend);

}  // namespace elbowroom
