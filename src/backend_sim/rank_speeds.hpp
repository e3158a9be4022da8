#pragma once

#include <cstdint>
#include <vector>

#include "backend_sim/kernel_profiles.hpp"
#include "elbowroom/backend/variability.hpp"
#include "elbowroom/model/rank_classes.hpp"

namespace elbowroom::sim {

/// How one GPU differs from the device that the model knows.
struct RankSpeed {
  double compute_time = 1;  ///< of its SMs, relative; what memory limits is not slower
  double link_rate = 1;     ///< share that its links and its rail reach

  bool operator==(const RankSpeed&) const = default;
};

/// By rank. Each rank's jitter is drawn from the seed and its number alone, so that no other rank changes it.
std::vector<RankSpeed> rank_speeds(const Variability& variability, int ranks, std::uint64_t seed);

/// The ranks that compute longest and shortest: all others wait for the first, and collectives of the second wait most, on its SMs.
std::vector<int> extremes_of(const std::vector<RankSpeed>& speeds);

/// By class: the mean computing time of its ranks and the slowest of their links. With `classes` that tell the extremes apart
/// (rank_classes()) the time is that of all ranks within 1 % (exact_ranks_test.cpp).
std::vector<RankSpeed> speeds_of_classes(const RankClasses& classes, const std::vector<RankSpeed>& speeds);

/// The kernel on a GPU of that speed.
SimKernel at_speed(SimKernel kernel, const RankSpeed& speed);

}  // namespace elbowroom::sim
