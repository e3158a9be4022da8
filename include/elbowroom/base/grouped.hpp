#pragma once

#include <cstdint>
#include <string>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

/// A whole number as people read it in tables and messages: 262144 becomes "262,144". Independent of the locale.
ELBOWROOM_API std::string grouped(std::int64_t number);

}  // namespace elbowroom
