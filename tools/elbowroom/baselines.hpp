#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/plan/candidates.hpp"
#include "elbowroom/tune/tuner.hpp"

namespace elbowroom {

/// The baselines that can run a case, which a choice must beat all: sequential, concurrent, priority, and both shaped ones at the cap
/// that took the least time. Caps that no trial of `measured` is of are run once each, the loosest first, until `time` is over.
std::vector<Candidate> baseline_candidates(const CandidateSpace& space, Workload& workload,
                                           std::span<const MeasuredCandidate> measured, std::chrono::duration<double> time);

}  // namespace elbowroom
