#pragma once

#include <cstdint>

#include "interposer/core/core.hpp"

namespace elbowroom::interposer {

/// A launch that a cap rule names.
struct ShapingQuestion {
  const LaunchFacts& facts;
  const DeviceInfo& device;
  std::uint32_t static_shared = 0;  ///< bytes
  std::uint32_t residency = 0;      ///< blocks per SM as asked; 0: unknown
  std::uint32_t cap = 0;            ///< blocks per SM at most, greater than zero
};

struct Shaping {
  Refusal refusal = Refusal::none;
  std::uint32_t dynamic_shared = 0;  ///< bytes to ask for, where nothing is refused; at least what the program asked
};

/// The least dynamic shared memory that leaves room for `cap` blocks on an SM, but not for one more. Or the rule of Never pad that
/// forbids it: cooperative and cluster launches, a grid that fits in one wave, a residency already that low.
Shaping shape(const ShapingQuestion& question);

}  // namespace elbowroom::interposer
