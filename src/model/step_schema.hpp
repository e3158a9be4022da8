#pragma once

#include <string_view>

namespace elbowroom {

inline constexpr std::string_view kStepSchema = "elbowroom.step/1";

}  // namespace elbowroom
