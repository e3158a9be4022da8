#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

/// What a counter counts in.
using Millijoules = Quantity<struct MillijoulesUnit>;

/// Energy that comes from arithmetic.
struct Joules {
  double value = 0;
  auto operator<=>(const Joules&) const = default;
};

struct Watts {
  double value = 0;
  auto operator<=>(const Watts&) const = default;
};

/// What the counters of one GPU say at one time. `at` is of one clock for all GPUs.
struct CounterReading {
  Microseconds at{0};
  Millijoules energy;                         ///< since any fixed time, of the whole GPU
  std::optional<Watts> power = std::nullopt;  ///< absent: the device does not say
};

/// How a GPU stands. What the device does not say is absent.
struct GpuState {
  std::optional<int> celsius;
  std::optional<int> sm_mhz;
  std::vector<std::string> below_greatest_clock;  ///< the driver's reasons, now
  int processes = 0;                              ///< with work on this GPU, as far as the driver shows them
};

}  // namespace elbowroom
