#pragma once

#include <string>

#include "preload/controls.hpp"
#include "preload/variables.hpp"

namespace elbowroom::preload {

inline constexpr const char* kPythonVariable = "ELBOWROOM_RUN_SYMMETRIC";            ///< "1": the hook acts
inline constexpr const char* kPythonViewsVariable = "ELBOWROOM_RUN_GRADIENT_VIEWS";  ///< "1": gradients are views of DDP's buckets

/// Ours first, behind the runtime of AddressSanitizer alone, then what `environment` has preloaded anyway; a run inside a run does
/// not load it twice, nor the library of another backend.
std::string preload_list(const std::string& library, const Variables& environment);

/// NCCL's policy of copy engines, which take gathers into the hook's buffers. Empty where somebody chose a policy.
Variables copy_engines(const Controls& controls, const Variables& environment);

/// The hook's folder before what PYTHONPATH has in `environment`, the word that makes the hook act, and copy_engines().
/// `gradient_views` lets DDP's gradients be views of its buckets.
Variables python_environment(const std::string& hook, const Controls& controls, bool gradient_views, const Variables& environment);

}  // namespace elbowroom::preload
