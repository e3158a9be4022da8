#pragma once

#include <string>

namespace elbowroom {

/// The value of --profile, or else that of ELBOWROOM_PROFILE; empty: neither is given.
std::string profile_path(const std::string& option);

}  // namespace elbowroom
