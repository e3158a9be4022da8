#pragma once

#include <cstdint>

namespace elbowroom::interposer {

inline constexpr std::uint64_t kMs = 1'000'000;  ///< in nanoseconds

}  // namespace elbowroom::interposer
