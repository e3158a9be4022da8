#pragma once

#include <optional>
#include <string>

namespace elbowroom {

/// What the limit of this process's stack is, where that is too small for this program; absent: it is not.
std::optional<std::string> small_stack();

}  // namespace elbowroom
