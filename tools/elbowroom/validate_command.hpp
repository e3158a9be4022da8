#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace elbowroom {

/// Compares the simulator of `device`, as --device names it ("auto": H200), with the measured rows of `csv_path` and prints a line
/// for each row and the sums. With `json_path` an `elbowroom.validation/1` document is written there; "-" is standard output and
/// the table then goes to standard error. `who` is the command that complains. The value is the exit code.
int run_validation(std::string_view who, const std::string& csv_path, const std::optional<std::string>& json_path,
                   const std::string& device);

/// `elbowroom validate rows` and `elbowroom validate steps`.
void add_validate_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
