#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace elbowroom {

void add_explain_command(CLI::App& app, const std::optional<std::vector<std::string>>& recorded, std::function<int()>& chosen);

}  // namespace elbowroom
