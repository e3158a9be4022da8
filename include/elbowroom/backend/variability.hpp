#pragma once

#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// One rank, and a number of it.
struct OfRank {
  int rank = 0;
  double value = 1;

  bool operator==(const OfRank&) const = default;
};

/// How simulated GPUs differ from each other. All of it holds for a whole run.
struct Variability {
  double jitter = 0;               ///< percent: standard deviation of the logarithm of each rank's computing time, 0 to 20
  std::vector<OfRank> stragglers;  ///< throttled GPUs, and how many times as long their SMs compute, 1 to 100
  std::vector<OfRank> slow_links;  ///< GPUs whose links and rail reach a share of their rate, 0.01 to 1

  [[nodiscard]] bool none() const { return jitter == 0 && stragglers.empty() && slow_links.empty(); }
};

/// Whether all numbers are in range, for steps of so many ranks. `invalid_input` begins with the option of `elbowroom bench` that
/// is at fault.
ELBOWROOM_API Status check(const Variability& variability, int ranks);

}  // namespace elbowroom
