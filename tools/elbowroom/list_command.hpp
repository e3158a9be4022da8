#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace elbowroom {

/// Registers `list` on `app`: backends with the reason when unusable, devices, suites, kernels, collectives, variables.
void add_list_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
