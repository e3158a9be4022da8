#pragma once

#include <optional>

#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/hardware_limit.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"

namespace elbowroom::detail {

/// What the times of a case are compared with.
struct Yardsticks {
  Microseconds critical_path{0};
  std::optional<HardwareLimit> hardware_limit;  ///< absent: the catalog does not have the device
  bool can_overlap = true;                      ///< false: the critical path is no shorter than one operation after the other

  /// The members that follow from total times alone.
  [[nodiscard]] OverlapMetrics metrics(Microseconds time, Microseconds sequential) const;
};

/// A scenario's launches share both sides' totals, `compute` and `comm`. Of a step each kind of operation is run by itself:
/// operations that do the same among as many ranks.
Result<Yardsticks> yardsticks_of(CaseTrials& trials, Microseconds compute, Microseconds comm);

}  // namespace elbowroom::detail
