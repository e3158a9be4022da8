#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace elbowroom {

/// Adds `elbowroom step`, which writes step documents; its choice runs and gives an exit code.
void add_step_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
