#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string_view>

namespace elbowroom {

/// What its complaints begin with, those of its sweeps and transfers too.
inline constexpr std::string_view kBench = "elbowroom bench";

/// Registers `bench` on `app`. When the command line calls it, `chosen` becomes the work to do, whose value is the exit code.
void add_bench_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
