#include "elbowroom/experiment/search.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "elbowroom/plan/ranking.hpp"

namespace elbowroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSeeds = 10;

}  // namespace

Tuner::Neighbours neighbours_in(const CandidateSpace& space, const Predictor& predict) {
  return [&space, &predict](const OverlapPlan& plan) { return ranked_neighbours(space, plan, predict); };
}

Tuner begin_search(const TunerOptions& options, const CandidateSpace& space, const Predictor& predict) {
  return {options, first_to_measure(rank_candidates(space, predict), kSeeds), neighbours_in(space, predict)};
}

Status search(Tuner& tuner, CaseTrials& trials, const std::function<Status(const Tuner&)>& after) {
  auto mark = Clock::now();
  while (const std::optional<std::size_t> asked = tuner.ask()) {
    const Candidate candidate = tuner.candidates()[*asked].candidate;
    const Result<Microseconds> time = trials.run(order_of(candidate.scheme), candidate.plan);
    if (!time && time.error().kind == ErrorKind::failed) { return time.error(); }
    const Seconds spent = Clock::now() - std::exchange(mark, Clock::now());
    if (time) {
      tuner.tell(*time, spent);
    } else {
      tuner.refuse(time.error().message, spent);
    }
    if (Status goes_on = after(tuner); !goes_on) { return goes_on; }
  }
  return {};
}

}  // namespace elbowroom
