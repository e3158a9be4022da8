#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/report/run_report.hpp"

namespace elbowroom {

/// The folder that goes on PYTHONPATH, so that Python programs have their communication buffers on symmetric memory. None where the
/// Python part is not installed beside this program, or where PYTHONPATH could not name it.
std::optional<std::string> find_python_hook();

/// What the hook left in `folder` for this process: its document, or one that says that a Python ran without the hook. Empty for a
/// process that is no Python.
std::optional<std::string> symmetric_memory_of(const std::filesystem::path& folder, const ProcessReport& process);

/// Whether the hook saw that this process imports JAX.
bool imported_jax(const std::filesystem::path& folder, std::int64_t pid);

/// Documents among `files` of processes that wrote no report: they used no driver.
std::vector<std::string> documents_without_report(std::span<const std::filesystem::path> files,
                                                  std::span<const ProcessReport> processes);

}  // namespace elbowroom
