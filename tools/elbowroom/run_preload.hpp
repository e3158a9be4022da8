#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// Beside this program (a build tree keeps it in lib beside bin, an installation in its library folder).
Result<std::string> find_library(std::string_view library);

}  // namespace elbowroom
