#pragma once

#include <array>
#include <cstdint>

#include "elbowroom/base/quantities.hpp"

namespace elbowroom::detail {

/// SMs for the collective where they are parted or left out: as many as the common block budgets of collectives ask for.
inline constexpr std::array<std::int64_t, 4> kSmShares{8, 16, 24, 32};
/// Drivers part SMs in multiples of 8 at most.
inline constexpr Sms kPartitionGranule(8);

}  // namespace elbowroom::detail
