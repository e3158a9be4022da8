#pragma once

#include <string>
#include <string_view>

namespace elbowroom::doctor {

/// A list of folders as LD_LIBRARY_PATH has it, without its empty entries: the loader takes each for the current folder.
std::string without_empty_entries(std::string_view path);

}  // namespace elbowroom::doctor
