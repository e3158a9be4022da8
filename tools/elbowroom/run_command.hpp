#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace elbowroom {

/// A command line cut at its first "--" if it calls `run`, `launch`, `measure` or `explain`: CLI11 takes what follows there for its
/// own options.
struct SplitCommandLine {
  int own_arguments = 0;                            ///< of argv, for CLI11
  std::optional<std::vector<std::string>> command;  ///< what follows "--"; absent: there is none
};
SplitCommandLine split_command_line(int argc, char** argv);

/// Registers `run` on `app`. When the command line calls it, `chosen` becomes the work to do, whose value is the exit code.
void add_run_command(CLI::App& app, const std::optional<std::vector<std::string>>& command, std::function<int()>& chosen);

}  // namespace elbowroom
