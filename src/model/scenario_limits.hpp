#pragma once

#include <cstdint>

namespace elbowroom::detail {

/// Of a matrix. Beyond every device's memory, and far from overflow in products and sums.
inline constexpr std::int64_t kLongestSide = 1 << 20;

}  // namespace elbowroom::detail
