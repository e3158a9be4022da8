#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace elbowroom {

/// Registers `bench` on `app`. When the command line calls it, `chosen` becomes the work to do, whose value is the exit code.
void add_bench_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
