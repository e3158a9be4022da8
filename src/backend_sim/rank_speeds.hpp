#pragma once

#include <cstdint>
#include <vector>

#include "backend_sim/kernel_profiles.hpp"
#include "elbowroom/backend/variability.hpp"
#include "elbowroom/model/rank_classes.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom::sim {

/// How one GPU differs from the device that the model knows.
struct RankSpeed {
  double compute_time = 1;  ///< of its SMs, relative; what memory limits is not slower
  double link_rate = 1;     ///< share that its links and its rail reach

  bool operator==(const RankSpeed&) const = default;
};

/// By rank. Each rank's jitter is drawn from the seed and its number alone, so that no other rank changes it.
std::vector<RankSpeed> rank_speeds(const Variability& variability, int ranks, std::uint64_t seed);

/// By rank, the least of the ranks that it keeps pace with: itself, or those of its host that most of its collectives join, as
/// tensor parallelism's after every few kernels. All of these compute as long as the slowest.
std::vector<int> pacemakers(const Step& step, int host);

/// Classes of unequal ranks, with their speeds. The slowest link of its ranks counts, and of what they keep pace with the mean
/// computing time, to a quarter of a percent: so classes share what was simulated.
struct UnequalClasses {
  RankClasses classes;
  std::vector<RankSpeed> speeds;
};

/// The ranks that compute longest and shortest are told apart, with those that keep pace with them: all others wait for the first,
/// and collectives of the second wait most, on its SMs. The time is that of all ranks within 1 % (exact_ranks_test.cpp). `host`:
/// GPUs of one.
UnequalClasses unequal_classes(const Step& step, std::vector<RankSpeed> speeds, int host);

/// The kernel on a GPU of that speed.
SimKernel at_speed(SimKernel kernel, const RankSpeed& speed);

}  // namespace elbowroom::sim
