#pragma once

#include <optional>
#include <string>

namespace elbowroom {

/// The value of --profile, or else that of ELBOWROOM_PROFILE; absent: neither is given.
std::optional<std::string> profile_path(const std::optional<std::string>& option);

}  // namespace elbowroom
