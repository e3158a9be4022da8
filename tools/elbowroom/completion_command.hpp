#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace elbowroom {

/// Registers `completion` on `app`, whose subcommands and options it describes: it is called after they are made, and `app`
/// outlives `chosen`.
void add_completion_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
