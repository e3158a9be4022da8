#pragma once

#include <functional>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/candidates.hpp"
#include "elbowroom/tune/tuner.hpp"

namespace elbowroom {

/// The plans that a search over `space` tries next, by `predict`, which may be empty. Both must outlive what is returned.
ELBOWROOM_API Tuner::Neighbours neighbours_in(const CandidateSpace& space, const Predictor& predict);

/// A search that has measured nothing. `space` and `predict` must outlive it.
ELBOWROOM_API Tuner begin_search(const TunerOptions& options, const CandidateSpace& space, const Predictor& predict);

/// Runs what the tuner asks for until it asks no more. What a machine refuses is a refusal of the candidate; a device error ends
/// the search with it. `after` is told after each trial, and an error of it ends the search with it too; the tuner can go on from
/// there.
ELBOWROOM_API Status search(Tuner& tuner, CaseTrials& trials, const std::function<Status(const Tuner&)>& after);

}  // namespace elbowroom
