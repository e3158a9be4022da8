#include "experiment/baselines.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "elbowroom/plan/controls.hpp"

namespace elbowroom::detail {
namespace {

using Clock = std::chrono::steady_clock;

class Screening {
 public:
  Screening(const CandidateSpace& space, CaseTrials& trials, std::span<const MeasuredCandidate> measured, Clock::time_point end,
            const std::function<Status()>& before)
      : space_(space), trials_(trials), measured_(measured), end_(end), before_(before) {}

  /// Absent where no cap could be run.
  Result<std::optional<Candidate>> best_cap(const OverlapPlan& uncapped) {
    const Control& caps = residency_control();
    Result<std::vector<std::int64_t>> values = caps.values(space_.site(), uncapped);
    if (!values) { return std::optional<Candidate>(); }
    std::ranges::reverse(*values);
    std::optional<Candidate> best;
    Microseconds least{0};
    for (const std::int64_t cap : *values) {
      OverlapPlan plan = uncapped;
      caps.set(space_.site(), plan, cap);
      const Candidate candidate = space_.describe(plan);
      if (Status goes_on = before_(); !goes_on) { return goes_on.error(); }
      const std::optional<Microseconds> time = time_of(candidate);
      if (!time || (best && *time >= least)) { continue; }
      best = candidate;
      least = *time;
    }
    return best;
  }

 private:
  std::optional<Microseconds> time_of(const Candidate& candidate) {
    for (const MeasuredCandidate& known : measured_) {
      if (known.candidate.plan == candidate.plan && known.candidate.scheme == candidate.scheme && !known.times.empty()) {
        return known.interval().median;
      }
    }
    if (Clock::now() >= end_ || !trials_.accepts(candidate.plan)) { return std::nullopt; }
    const Result<Microseconds> time = trials_.run(order_of(candidate.scheme), candidate.plan);
    return time ? std::optional(*time) : std::nullopt;
  }

  const CandidateSpace& space_;
  CaseTrials& trials_;
  std::span<const MeasuredCandidate> measured_;
  Clock::time_point end_;
  const std::function<Status()>& before_;
};

}  // namespace

Result<std::vector<Candidate>> baseline_candidates(const CandidateSpace& space, CaseTrials& trials,
                                                   std::span<const MeasuredCandidate> measured, std::chrono::duration<double> time,
                                                   const std::function<Status()>& before) {
  const OverlapPlan plain = plain_plan(space.site());
  OverlapPlan urgent = plain;
  urgent.priority = true;
  std::vector<Candidate> sides{{Scheme::sequential, plain, {RoomMaking::no_overlap}, std::nullopt}, space.describe(plain)};
  const bool has_priority = static_cast<bool>(trials.accepts(urgent));
  if (has_priority) { sides.push_back(space.describe(urgent)); }
  Screening screening(space, trials, measured, Clock::now() + std::chrono::duration_cast<Clock::duration>(time), before);
  // Priority first: a cap gains little without.
  const std::vector<OverlapPlan> uncapped = has_priority ? std::vector{urgent, plain} : std::vector{plain};
  for (const OverlapPlan& plan : uncapped) {
    const Result<std::optional<Candidate>> best = screening.best_cap(plan);
    if (!best) { return best.error(); }
    if (*best) { sides.push_back(**best); }
  }
  return sides;
}

}  // namespace elbowroom::detail
