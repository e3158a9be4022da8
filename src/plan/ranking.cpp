#include "elbowroom/plan/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace elbowroom {
namespace {

// Plans from which the search goes on.
constexpr std::size_t kBeam = 3;
// Predictions this close to each other tell nothing apart.
constexpr double kSameTime = 0.001;
constexpr double kSafeGain = 0.03;

bool predicted_before(const Candidate& a, const Candidate& b) {
  if (a.predicted && b.predicted) { return *a.predicted < *b.predicted; }
  return a.predicted.has_value() && !b.predicted;
}

void sort_by_prediction(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), predicted_before);
}

void predict_for(Candidate& candidate, const Predictor& predict) {
  if (!predict) { return; }
  if (const Result<Microseconds> time = predict(candidate.scheme, candidate.plan)) { candidate.predicted = *time; }
}

class Search {
 public:
  Search(const CandidateSpace& space, const Predictor& predict, int most_predictions)
      : space_(space), predict_(predict), left_(most_predictions) {}

  std::vector<Candidate> run() {
    for (const Candidate& start : space_.starts()) { look_at(start); }
    while (left_ > 0 && expand_one()) { sort_by_prediction(found_); }
    sort_by_prediction(found_);
    return std::move(found_);
  }

 private:
  void look_at(Candidate candidate) {
    if (!seen_.insert({candidate.scheme, candidate.plan}).second) { return; }
    --left_;
    predict_for(candidate, predict_);
    found_.push_back(candidate);
  }

  /// False when the best plans have no neighbour that was not looked at.
  bool expand_one() {
    sort_by_prediction(found_);
    for (std::size_t at = 0; at < std::min(kBeam, found_.size()); ++at) {
      const Candidate best = found_[at];
      if (!best.predicted || !expanded_.insert({best.scheme, best.plan}).second) { continue; }
      for (const Candidate& neighbour : space_.neighbours(best.plan)) {
        if (left_ > 0) { look_at(neighbour); }
      }
      return true;
    }
    return false;
  }

  const CandidateSpace& space_;
  const Predictor& predict_;
  int left_;
  std::vector<Candidate> found_;
  std::set<std::pair<Scheme, OverlapPlan>> seen_;
  std::set<std::pair<Scheme, OverlapPlan>> expanded_;
};

bool promise_the_same(const Candidate& a, const Candidate& b) {
  if (!a.predicted || !b.predicted || a.reason != b.reason) { return false; }
  return std::abs(a.predicted->count() - b.predicted->count()) <= kSameTime * b.predicted->count();
}

}  // namespace

std::vector<Candidate> rank_candidates(const CandidateSpace& space, const Predictor& predict, int most_predictions) {
  if (!predict) { return space.starts(); }
  return Search(space, predict, most_predictions).run();
}

std::vector<Candidate> ranked_neighbours(const CandidateSpace& space, const OverlapPlan& plan, const Predictor& predict) {
  std::vector<Candidate> candidates = space.neighbours(plan);
  for (Candidate& candidate : candidates) { predict_for(candidate, predict); }
  sort_by_prediction(candidates);
  return candidates;
}

std::vector<Candidate> first_to_measure(const std::vector<Candidate>& ranked, std::size_t count) {
  std::vector<Candidate> chosen;
  const auto is_chosen = [&](const Candidate& candidate) {
    return std::find(chosen.begin(), chosen.end(), candidate) != chosen.end();
  };
  for (const Scheme scheme : {Scheme::concurrent, Scheme::priority, Scheme::shaped_priority, Scheme::sequential}) {
    const auto first = std::find_if(ranked.begin(), ranked.end(), [&](const Candidate& c) { return c.scheme == scheme; });
    if (first != ranked.end() && chosen.size() < count) { chosen.push_back(*first); }
  }
  // A ranking that errs must not keep a whole way to make room from being tried.
  for (const Candidate& candidate : ranked) {
    const bool has_its_way =
        std::any_of(chosen.begin(), chosen.end(), [&](const Candidate& other) { return other.reason == candidate.reason; });
    if (chosen.size() < count && !has_its_way) { chosen.push_back(candidate); }
  }
  for (const Candidate& candidate : ranked) {
    const bool stood_for =
        std::any_of(chosen.begin(), chosen.end(), [&](const Candidate& other) { return promise_the_same(candidate, other); });
    if (chosen.size() < count && !stood_for && !is_chosen(candidate)) { chosen.push_back(candidate); }
  }
  for (const Candidate& candidate : ranked) {
    if (chosen.size() < count && !is_chosen(candidate)) { chosen.push_back(candidate); }
  }
  return chosen;
}

Candidate safe_choice(const CandidateSpace& space, const Predictor& predict) {
  const OverlapPlan plain = plain_plan(space.site());
  OverlapPlan urgent = plain;
  urgent.priority = true;
  Candidate nothing = space.describe(plain);
  Candidate order = space.describe(urgent);
  predict_for(nothing, predict);
  predict_for(order, predict);
  const bool pays = nothing.predicted && order.predicted && *order.predicted <= *nothing.predicted * (1 - kSafeGain);
  return pays ? order : nothing;
}

}  // namespace elbowroom
