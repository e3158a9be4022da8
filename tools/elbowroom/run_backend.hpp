#pragma once

#include <string_view>

#include "child_process.hpp"
#include "elbowroom/base/result.hpp"
#include "run_controls.hpp"

namespace elbowroom {

/// Whose launches a run acts on: one library is preloaded for each.
enum class RunBackend { cuda, hip };

/// "cuda" or "hip".
std::string_view name(RunBackend backend);

/// The library that is preloaded.
std::string_view preloaded_library(RunBackend backend);

/// A word of --backend. `auto` is HIP where its runtime can be loaded and CUDA's driver cannot, and CUDA otherwise: the command
/// sees the same libraries as this process.
Result<RunBackend> choose_run_backend(std::string_view word);

/// `invalid_input` for a policy or control that was asked for and that this backend has no way to carry out.
Status check_run_backend(RunBackend backend, run::Policy policy, const RunControls& asked);

/// What a profile offers, as far as the backend has it.
RunControls possible_controls(RunBackend backend, RunControls offered);

/// The environment that the backend's libraries need for these controls, beyond what run_controls names: RCCL's own names of NCCL's
/// settings, and stream priorities, which ROCm can be set to ignore. A variable that the environment has already is left alone.
EnvironmentChanges backend_environment(RunBackend backend, run::Policy policy, const RunControls& controls);

}  // namespace elbowroom
