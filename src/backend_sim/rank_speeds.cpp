#include "backend_sim/rank_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <variant>

#include "backend_sim/run_noise.hpp"
#include "backend_sim/splitmix.hpp"
#include "model/communicator_table.hpp"

namespace elbowroom::sim {
namespace {

// Of a GPU's computing time.
constexpr double kSpeedsOfOne = 400;

/// By class: the mean computing time of its ranks and the slowest of their links.
std::vector<RankSpeed> speeds_of_classes(const RankClasses& classes, const std::vector<RankSpeed>& speeds) {
  std::vector<RankSpeed> made(static_cast<std::size_t>(classes.count), {0, 1});
  std::vector<int> ranks(made.size());
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    const auto of_class = static_cast<std::size_t>(classes.of_rank[rank]);
    made[of_class].compute_time += speeds[rank].compute_time;
    made[of_class].link_rate = std::min(made[of_class].link_rate, speeds[rank].link_rate);
    ++ranks[of_class];
  }
  for (std::size_t at = 0; at < made.size(); ++at) {
    made[at].compute_time = std::round(made[at].compute_time / ranks[at] * kSpeedsOfOne) / kSpeedsOfOne;
  }
  return made;
}

/// All that keep pace with each other compute as long as the slowest of them.
void keep_pace(std::vector<RankSpeed>& speeds, const std::vector<int>& pacemaker) {
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    double& slowest = speeds[static_cast<std::size_t>(pacemaker[rank])].compute_time;
    slowest = std::max(slowest, speeds[rank].compute_time);
  }
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    speeds[rank].compute_time = speeds[static_cast<std::size_t>(pacemaker[rank])].compute_time;
  }
}

/// The ranks that keep pace with the slowest one, and those that keep pace with the fastest, where these are others.
std::vector<std::vector<int>> extremes_of(const std::vector<RankSpeed>& speeds, const std::vector<int>& pacemaker) {
  const auto [fastest, slowest] = std::ranges::minmax_element(speeds, {}, &RankSpeed::compute_time);
  const int of_slowest = pacemaker[static_cast<std::size_t>(slowest - speeds.begin())];
  const int of_fastest = pacemaker[static_cast<std::size_t>(fastest - speeds.begin())];
  std::vector<std::vector<int>> extremes(2);
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    if (pacemaker[rank] == of_slowest) {
      extremes[0].push_back(static_cast<int>(rank));
    } else if (pacemaker[rank] == of_fastest) {
      extremes[1].push_back(static_cast<int>(rank));
    }
  }
  return extremes;
}

}  // namespace

std::vector<RankSpeed> rank_speeds(const Variability& variability, int ranks, std::uint64_t seed) {
  std::vector<RankSpeed> speeds(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    speeds[rank].compute_time = RunNoise(variability.jitter, mixed(mixed(seed) + rank)).next();
  }
  for (const OfRank& one : variability.stragglers) { speeds[static_cast<std::size_t>(one.rank)].compute_time *= one.value; }
  for (const OfRank& one : variability.slow_links) { speeds[static_cast<std::size_t>(one.rank)].link_rate *= one.value; }
  return speeds;
}

std::vector<int> pacemakers(const Step& step, int host) {
  const detail::CommunicatorTable table(step);
  const auto& entries = table.entries();
  std::vector<int> operations(entries.size());
  std::vector<int> of_rank(static_cast<std::size_t>(step.ranks));
  for (std::size_t at = 0; at < step.operations.size(); ++at) { ++operations[table.entry_of(at)]; }
  for (std::size_t at = 0; at < entries.size(); ++at) {
    if (computes(step.operations[entries[at].first])) { continue; }
    for (const std::vector<int>& ranks : entries[at].of_ranks) {
      for (const int rank : ranks) { of_rank[static_cast<std::size_t>(rank)] += operations[at]; }
    }
  }
  std::vector<int> made(of_rank.size());
  std::iota(made.begin(), made.end(), 0);
  for (std::size_t at = 0; at < entries.size(); ++at) {
    if (computes(step.operations[entries[at].first])) { continue; }
    for (const std::vector<int>& ranks : entries[at].of_ranks) {
      const auto [first, last] = std::ranges::minmax(ranks);
      if (first / host != last / host || 2 * operations[at] <= of_rank[static_cast<std::size_t>(first)]) { continue; }
      for (const int rank : ranks) { made[static_cast<std::size_t>(rank)] = first; }
    }
  }
  return made;
}

UnequalClasses unequal_classes(const Step& step, std::vector<RankSpeed> speeds, int host) {
  const std::vector<int> pacemaker = pacemakers(step, host);
  keep_pace(speeds, pacemaker);
  UnequalClasses made{rank_classes(step, extremes_of(speeds, pacemaker)), {}};
  made.speeds = speeds_of_classes(made.classes, speeds);
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
