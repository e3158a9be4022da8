#pragma once

#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

/// Bytes on their way over links that they share with others. Links are numbered from 0.
struct Flow {
  double bytes = 0;
  std::vector<int> links;   ///< at least one, none twice
  Microseconds latency{0};  ///< of all of them together, before the first byte arrives
  std::vector<int> after;   ///< flows of lower number that end before it begins
};

/// Max-min fair rates, bytes per microsecond: none can grow without one that is no greater having to shrink. `rates`: of the links,
/// positive.
ELBOWROOM_API std::vector<double> max_min_rates(const std::vector<double>& rates, const std::vector<const Flow*>& flows);

/// When each flow ends, if those with nothing before them begin at 0. Flows share the links by max-min fairness at all times.
/// Takes time in proportion to instants times flows that are under way.
ELBOWROOM_API std::vector<Microseconds> flow_ends(const std::vector<double>& rates, const std::vector<Flow>& flows);

}  // namespace elbowroom
