#pragma once

#include <optional>
#include <string>

namespace elbowroom {

/// Why a library of glibc cannot be preloaded into a command: the name of its loader, if that is another C library's and would end
/// the command instead (musl, uClibc). Absent where it can be, or nobody can tell. A command is looked up in PATH.
std::optional<std::string> foreign_loader(const std::string& command);

}  // namespace elbowroom
