#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "child_process.hpp"
#include "elbowroom/report/run_report.hpp"
#include "preload/controls.hpp"

namespace elbowroom {

inline constexpr const char* kPythonVariable = "ELBOWROOM_RUN_SYMMETRIC";  ///< "1": the hook acts
inline constexpr const char* kPythonBlocksVariable =
    "ELBOWROOM_RUN_SYMMETRIC_BLOCKS";                                                ///< set: the hook leaves NCCL's blocks alone
inline constexpr const char* kPythonViewsVariable = "ELBOWROOM_RUN_GRADIENT_VIEWS";  ///< "1": gradients are views of DDP's buckets

/// The folder that goes on PYTHONPATH, so that Python programs have their communication buffers on symmetric memory. None where the
/// Python part is not installed beside this program, or where PYTHONPATH could not name it.
std::optional<std::string> find_python_hook();

/// The hook's folder before what PYTHONPATH had, and the word that makes the hook act. Where --set chose the blocks of symmetric
/// kernels, another word makes it leave them. `gradient_views` lets DDP's gradients be views of its buckets.
EnvironmentChanges python_environment(const std::string& hook, const preload::Controls& controls, bool gradient_views);

/// What the hook left in `folder` for this process: its document, or one that says that a Python ran without the hook. Empty for a
/// process that is no Python.
std::optional<std::string> symmetric_memory_of(const std::filesystem::path& folder, const ProcessReport& process);

}  // namespace elbowroom
