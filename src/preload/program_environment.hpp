#pragma once

#include <string>

#include "preload/controls.hpp"
#include "preload/variables.hpp"

namespace elbowroom::preload {

inline constexpr const char* kPythonVariable = "ELBOWROOM_RUN_SYMMETRIC";  ///< "1": the hook acts
inline constexpr const char* kPythonBlocksVariable =
    "ELBOWROOM_RUN_SYMMETRIC_BLOCKS";                                                ///< set: the hook leaves NCCL's blocks alone
inline constexpr const char* kPythonViewsVariable = "ELBOWROOM_RUN_GRADIENT_VIEWS";  ///< "1": gradients are views of DDP's buckets

/// Ours first, behind the runtime of AddressSanitizer alone, then what `environment` has preloaded anyway; a run inside a run does
/// not load it twice, nor the library of another backend.
std::string preload_list(const std::string& library, const Variables& environment);

/// The hook's folder before what PYTHONPATH has in `environment`, and the word that makes the hook act. Where --set chose the
/// blocks of symmetric kernels, another word makes it leave them. `gradient_views` lets DDP's gradients be views of its buckets.
Variables python_environment(const std::string& hook, const Controls& controls, bool gradient_views, const Variables& environment);

}  // namespace elbowroom::preload
