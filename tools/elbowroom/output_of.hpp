#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace elbowroom {

/// What a command that is looked up in PATH writes to standard output, up to 64 KiB. Absent where it does not end with 0 within
/// `limit`, after which it is killed. It reads nothing, and what it writes to standard error is lost.
std::optional<std::string> output_of(const std::vector<std::string>& command, std::chrono::milliseconds limit);

}  // namespace elbowroom
