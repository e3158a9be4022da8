#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/candidates.hpp"
#include "elbowroom/tune/tuner.hpp"

namespace elbowroom::detail {

/// The baselines that can run a case, all of which a choice must beat: sequential, concurrent, priority, and both shaped ones.
/// Those are at the cap that took the least time. Caps that no trial of `measured` is of are run once each, the loosest first,
/// until `time` is over. `before` is asked before each run, and an error of it ends them.
Result<std::vector<Candidate>> baseline_candidates(const CandidateSpace& space, CaseTrials& trials,
                                                   std::span<const MeasuredCandidate> measured, std::chrono::duration<double> time,
                                                   const std::function<Status()>& before);

}  // namespace elbowroom::detail
