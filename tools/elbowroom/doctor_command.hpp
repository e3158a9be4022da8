#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace elbowroom {

void add_doctor_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace elbowroom
