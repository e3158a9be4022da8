#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace elbowroom {

/// Registers `tune` on `app`: searches the best plan of each case and stores it. When the command line calls it, `chosen` becomes
/// the work to do, whose value is the exit code.
void add_tune_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
