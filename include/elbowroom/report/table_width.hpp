#pragma once

#include <cstddef>
#include <limits>

namespace elbowroom {

/// A table that is given so many columns shows all that it has.
inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

}  // namespace elbowroom
