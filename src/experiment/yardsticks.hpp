#pragma once

#include <optional>

#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/hardware_limit.hpp"

namespace elbowroom::detail {

/// What the times of a case are compared with.
struct Yardsticks {
  Microseconds critical_path{0};
  std::optional<HardwareLimit> hardware_limit;  ///< absent: the catalog does not have the device
};

/// A scenario's launches share both sides' totals, `compute` and `comm`. Of a step each kind of operation is run by itself:
/// operations that do the same among as many ranks.
Result<Yardsticks> yardsticks_of(CaseTrials& trials, Microseconds compute, Microseconds comm);

}  // namespace elbowroom::detail
