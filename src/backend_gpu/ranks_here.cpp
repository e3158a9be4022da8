#include "backend_gpu/ranks_here.hpp"

#include <algorithm>

namespace elbowroom::gpu {

Group group_of(const std::vector<int>& ranks, const RanksHere& here) {
  Group group{ranks, {}};
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    const auto found = std::ranges::find(here, ranks[at], &RankHere::rank);
    if (found == here.end()) { continue; }
    group.here.push_back({static_cast<int>(at), static_cast<std::size_t>(found - here.begin()), found->device});
  }
  return group;
}

}  // namespace elbowroom::gpu
