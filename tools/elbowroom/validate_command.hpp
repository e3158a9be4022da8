#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace elbowroom {

inline constexpr std::string_view kValidationSchema = "elbowroom.validation/1";

/// `bench --validate`: compares the simulator of `device` (a catalog name) with the measured rows of `csv_path` and prints a line for
/// each row and the sums. With `json_path` such a document is written there; "-" is standard output and the table
/// then goes to standard error. The value is the exit code.
int run_validation(const std::string& csv_path, const std::optional<std::string>& json_path, const std::string& device);

}  // namespace elbowroom
