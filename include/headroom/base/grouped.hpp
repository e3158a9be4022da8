#pragma once

#include <cstdint>
#include <string>

#include "headroom/base/export.hpp"

namespace headroom {

/// A whole number as people read it in tables and messages: 262144 becomes "262,144". Independent of the locale.
HEADROOM_API std::string grouped(std::int64_t number);

}  // namespace headroom
