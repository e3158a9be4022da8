#pragma once

#include <compare>
#include <optional>

#include "headroom/base/quantities.hpp"

namespace headroom {

/// One value for each control. The default plan changes nothing. Plans are data: making one costs nothing and acts on nothing;
/// only a Backend acts.
struct OverlapPlan {
  std::optional<BlocksPerSm> blocks_per_sm;  ///< residency that `pad` enforces; absent: not shaped
  Bytes pad;                                 ///< dynamic shared memory added to every compute block
  bool priority = false;                     ///< communication stream at the device's greatest priority
  bool launch_gate = false;                  ///< compute waits until the collective's blocks are resident
  std::optional<Blocks> comm_blocks;         ///< block budget of the collective; absent: the library's own choice
  std::optional<int> cluster;                ///< cluster size of the collective's kernel; absent: the library's own choice
  std::optional<Sms> sm_target;              ///< SMs that a library GEMM sizes itself for; absent: all

  auto operator<=>(const OverlapPlan&) const = default;
};

}  // namespace headroom
