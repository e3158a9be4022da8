#pragma once

#include <string_view>

#include "elbowroom/base/result.hpp"
#include "preload/controls.hpp"
#include "preload/variables.hpp"
#include "run/policy.hpp"

namespace elbowroom::preload {

/// Whose launches a run acts on: one library is preloaded for each.
enum class RunBackend { cuda, hip };

/// "cuda" or "hip".
std::string_view name(RunBackend backend);

/// The library that is preloaded.
std::string_view preloaded_library(RunBackend backend);

/// `invalid_input` for a policy or control that was asked for and that this backend has no way to carry out.
Status check_run_backend(RunBackend backend, run::Policy policy, const Controls& asked);

/// What a profile offers, as far as the backend has it.
Controls possible_controls(RunBackend backend, Controls offered);

/// What the backend's libraries need in their environment for these controls, beyond what the controls name: RCCL's own names of
/// NCCL's settings, and stream priorities, which ROCm can be set to ignore. A variable of `environment` is left alone.
Variables backend_environment(RunBackend backend, run::Policy policy, const Controls& controls, const Variables& environment);

}  // namespace elbowroom::preload
