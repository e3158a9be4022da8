#pragma once

#include <cstdint>
#include <string>

namespace elbowroom {

/// The value of --profile, or else that of ELBOWROOM_PROFILE; empty: neither is given.
std::string profile_path(const std::string& option);

/// When something is stored.
std::int64_t seconds_since_1970();

}  // namespace elbowroom
