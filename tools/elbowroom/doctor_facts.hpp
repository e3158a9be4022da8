#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.hpp"

namespace elbowroom {

/// Looks at this machine. Nothing that cannot be read is an error: it is a fact. Takes as long as Python needs to import PyTorch.
doctor::Facts doctor_facts();

/// The GPUs as NVML shows them; none where it is not here. `release` becomes the driver's.
std::vector<doctor::Gpu> doctor_gpus(std::string& release);

/// As a shell finds it, but for entries of PATH that are the current folder.
std::optional<std::string> program_on_path(std::string_view program);

/// The Python of ELBOWROOM_PYTHON, or python3 on PATH.
std::optional<std::string> chosen_python();

/// Asks that Python. `package` is the folder that has elbowroom's Python part.
doctor::Python doctor_python(const std::string& package);

}  // namespace elbowroom
