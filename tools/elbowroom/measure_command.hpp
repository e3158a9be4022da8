#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace elbowroom {

/// Registers `measure` on `app`. When the command line calls it, `chosen` becomes the work to do, whose value is the exit code.
void add_measure_command(CLI::App& app, const std::optional<std::vector<std::string>>& command, std::function<int()>& chosen);

}  // namespace elbowroom
