#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace elbowroom {

/// `elbowroom calibrate`: fits the simulator's constants to this machine's GPUs and writes a device file. `chosen` becomes the work
/// of the command once it is parsed.
void add_calibrate_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
