#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom {

/// One schedule that is timed in turns with others.
struct TimedSchedule {
  std::string label;
  Order order{};
  OverlapPlan plan;
  std::vector<Microseconds> times;  ///< one of each counted round
};

struct Rounds {
  int warm_up = 0;  ///< run first and not counted
  int counted = 1;
  std::uint64_t seed = 1;  ///< of the orders
};

/// Runs every schedule once in each round and appends its time in the counted ones. Every round has an order of its own. So no
/// schedule always follows the same one and inherits its clocks and caches, and all share the machine's drift. `before` is told
/// before each run how many rounds are over, and may end it all. An error of a run names the schedule.
ELBOWROOM_API Status time_in_rounds(CaseTrials& trials, std::span<TimedSchedule* const> schedules, const Rounds& rounds,
                                    const std::function<Status(int)>& before);

}  // namespace elbowroom
