#pragma once

#include <cstddef>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/plan/candidates.hpp"

namespace elbowroom {

/// Predictions that ranking spends at most: under a second of simulation for common cases.
inline constexpr int kMostPredictions = 160;

/// What is worth measuring, the most promising first. With a predictor: every start and what a search from the best of them finds,
/// by predicted time. Plans that the predictor does not know follow in the order of starts(). Without (an empty function):
/// starts().
ELBOWROOM_API std::vector<Candidate> rank_candidates(const CandidateSpace& space, const Predictor& predict,
                                                     int most_predictions = kMostPredictions);

/// The neighbours of `plan`, the best predicted first; unpredicted ones keep the order of neighbours().
ELBOWROOM_API std::vector<Candidate> ranked_neighbours(const CandidateSpace& space, const OverlapPlan& plan,
                                                       const Predictor& predict);

/// The first `count` to measure. First come the unshaped baselines and the best shaped one, which a choice must beat. Then comes
/// the best of each other way to make room, since a ranking errs. The rest is by rank. Of plans that promise the same time for the
/// same reason one stands for all, as long as there are others.
ELBOWROOM_API std::vector<Candidate> first_to_measure(const std::vector<Candidate>& ranked, std::size_t count);

/// What may be applied without any measurement: `priority` where it is predicted to save at least 3 % of two plain streams,
/// otherwise the two plain streams. Nothing that takes room from compute, since a control applied where it does not pay costs.
ELBOWROOM_API Candidate safe_choice(const CandidateSpace& space, const Predictor& predict);

}  // namespace elbowroom
