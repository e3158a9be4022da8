#include "backend_sim/rank_speeds.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "backend_sim/run_noise.hpp"
#include "backend_sim/splitmix.hpp"

namespace elbowroom::sim {

std::vector<RankSpeed> rank_speeds(const Variability& variability, int ranks, std::uint64_t seed) {
  std::vector<RankSpeed> speeds(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    speeds[rank].compute_time = RunNoise(variability.jitter, mixed(mixed(seed) + rank)).next();
  }
  for (const OfRank& one : variability.stragglers) { speeds[static_cast<std::size_t>(one.rank)].compute_time *= one.value; }
  for (const OfRank& one : variability.slow_links) { speeds[static_cast<std::size_t>(one.rank)].link_rate *= one.value; }
  return speeds;
}

std::vector<int> extremes_of(const std::vector<RankSpeed>& speeds) {
  const auto [fastest, slowest] = std::ranges::minmax_element(speeds, {}, &RankSpeed::compute_time);
  return {static_cast<int>(slowest - speeds.begin()), static_cast<int>(fastest - speeds.begin())};
}

std::vector<RankSpeed> speeds_of_classes(const RankClasses& classes, const std::vector<RankSpeed>& speeds) {
  std::vector<RankSpeed> made(static_cast<std::size_t>(classes.count), {0, 1});
  std::vector<int> ranks(made.size());
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    const auto of_class = static_cast<std::size_t>(classes.of_rank[rank]);
    made[of_class].compute_time += speeds[rank].compute_time;
    made[of_class].link_rate = std::min(made[of_class].link_rate, speeds[rank].link_rate);
    ++ranks[of_class];
  }
  for (std::size_t at = 0; at < made.size(); ++at) { made[at].compute_time /= ranks[at]; }
  return made;
}

SimKernel at_speed(SimKernel kernel, const RankSpeed& speed) {
  if (auto* compute = std::get_if<ComputeProfile>(&kernel.profile)) {
    for (double& time : compute->tile_time) { time *= speed.compute_time; }
    compute->block_overhead *= speed.compute_time;
    return kernel;
  }
  auto& comm = std::get<CommProfile>(kernel.profile);
  if (comm.link_rate < kNoLimit) { comm.link_rate *= speed.link_rate; }
  return kernel;
}

}  // namespace elbowroom::sim
