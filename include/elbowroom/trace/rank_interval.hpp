#pragma once

#include <span>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

/// A median and the order statistics around it.
struct RankInterval {
  Microseconds median{0};
  Microseconds low{0};
  Microseconds high{0};

  bool operator==(const RankInterval&) const = default;
};

/// The median of at least one time with the tightest pair of order statistics, equally far from both ends. The pair holds the true
/// median with at least `confidence`  whatever the distribution. Of fewer than six times (at 95 %) it is the least and the
/// greatest. Unlike a bootstrap it costs a sort, so that a tuner can ask after every trial.
ELBOWROOM_API RankInterval rank_interval(std::span<const Microseconds> times, double confidence = 0.95);

/// Ends at least `share` of the median to either side.
ELBOWROOM_API RankInterval widened(RankInterval interval, double share);

}  // namespace elbowroom
