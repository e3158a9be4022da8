#pragma once

#include <string>
#include <string_view>

namespace elbowroom {

/// Names the nearest process of that program among those that started this one, so that no other process of this host, now or
/// before, has the same name; empty where there is none. The kernel cuts names of programs at 15 bytes.
std::string launching_process(std::string_view program);

}  // namespace elbowroom
