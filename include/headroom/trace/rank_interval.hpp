#pragma once

#include <span>

#include "headroom/base/export.hpp"
#include "headroom/base/time.hpp"

namespace headroom {

/// A median and the order statistics around it.
struct RankInterval {
  Microseconds median{0};
  Microseconds low{0};
  Microseconds high{0};

  bool operator==(const RankInterval&) const = default;
};

/// The median of at least one time with the tightest pair of order statistics, equally far from both ends, that holds the true median
/// with at least `confidence` whatever the distribution; of fewer than six times (at 95 %) the least and the greatest. Unlike a
/// bootstrap it costs a sort, so that a tuner can ask after every trial.
HEADROOM_API RankInterval rank_interval(std::span<const Microseconds> times, double confidence = 0.95);

}  // namespace headroom
