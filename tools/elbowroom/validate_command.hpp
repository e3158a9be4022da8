#pragma once

#include <optional>
#include <string>

#include "report/schemas.hpp"

namespace elbowroom {

/// `bench --validate`: compares the simulator of `device` (a catalog name) with the measured rows of `csv_path` and prints a line
/// for each row and the sums. With `json_path` an `elbowroom.validation/1` document is written there; "-" is standard output and
/// the table then goes to standard error. The value is the exit code.
int run_validation(const std::string& csv_path, const std::optional<std::string>& json_path, const std::string& device);

}  // namespace elbowroom
