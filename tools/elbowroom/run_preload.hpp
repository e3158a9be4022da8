#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// Beside this program (a build tree keeps it in lib beside bin, an installation in its library folder).
Result<std::string> find_library(std::string_view library);

/// Ours first, behind the runtime of AddressSanitizer alone, then what was to be preloaded anyway; a run inside a run does not load
/// it twice, nor the library of another backend.
std::string preload_list(const std::string& library);

}  // namespace elbowroom
