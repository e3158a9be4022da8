#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace elbowroom {

/// Registers `profile list|show|export|import` on `app`. When the command line calls one, `chosen` becomes the work to do, whose
/// value is the exit code.
void add_profile_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
