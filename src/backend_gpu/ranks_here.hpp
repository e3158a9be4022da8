#pragma once

#include <cstddef>
#include <vector>

namespace elbowroom::gpu {

/// A rank of a step that this process drives.
struct RankHere {
  int rank = 0;    ///< of the step
  int device = 0;  ///< the GPU's number in this process
};

/// All of a step that this process drives, by rank. Whatever is kept for each of them is in this order.
using RanksHere = std::vector<RankHere>;

/// Ranks that share a communicator, and which of them are here.
struct Group {
  struct Member {
    int rank = 0;        ///< in the communicator
    std::size_t at = 0;  ///< in RanksHere
    int device = 0;
  };
  std::vector<int> ranks;  ///< of the step, in the communicator's order
  std::vector<Member> here;

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
  /// Whether no other process takes part.
  [[nodiscard]] bool is_here() const { return here.size() == ranks.size(); }
};

Group group_of(const std::vector<int>& ranks, const RanksHere& here);

}  // namespace elbowroom::gpu
