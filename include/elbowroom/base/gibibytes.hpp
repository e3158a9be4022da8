#pragma once

#include <cstdint>

#include "elbowroom/base/quantities.hpp"

namespace elbowroom {

/// As people read sizes of memory.
constexpr double in_gibibytes(Bytes bytes) {
  return static_cast<double>(bytes.count()) / static_cast<double>(std::int64_t{1} << 30);
}

}  // namespace elbowroom
