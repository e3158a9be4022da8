#pragma once

#include <optional>
#include <string>

#include "elbowroom/tune/profile.hpp"

namespace elbowroom::preload {

/// Choices that may be for the program.
struct Offer {
  Profile profile;
  std::optional<std::string> file;  ///< as notices name it; absent: nobody named a profile, which is an empty one then
};

}  // namespace elbowroom::preload
