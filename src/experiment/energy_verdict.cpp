#include "experiment/energy_verdict.hpp"

#include <algorithm>
#include <utility>

#include "elbowroom/plan/reason.hpp"
#include "elbowroom/trace/rank_interval.hpp"

namespace elbowroom::detail {
namespace {

TimeAndEnergy time_and_energy(const TimedSchedule& schedule, const SchemeEnergy& energy) {
  const RankInterval time = rank_interval(schedule.times);
  const JoulesPerIteration& one = energy.per_iteration;
  return {time.median, time.low, time.high, one.joules, one.low, one.high};
}

}  // namespace

std::vector<Candidate> fastest_of_other_ways(std::span<const MeasuredCandidate> measured, std::span<const Candidate> known) {
  std::vector<const MeasuredCandidate*> by_time;
  for (const MeasuredCandidate& one : measured) {
    if (!one.times.empty() && one.candidate.scheme == Scheme::tuned) { by_time.push_back(&one); }
  }
  std::ranges::stable_sort(by_time, {}, [](const MeasuredCandidate* one) { return one->interval().median; });
  std::vector<Candidate> others;
  for (const MeasuredCandidate* one : by_time) {
    const auto same_way = [&](const Candidate& other) { return other.reason.way == one->candidate.reason.way; };
    if (others.size() == kOtherWays || std::ranges::any_of(known, same_way) || std::ranges::any_of(others, same_way)) { continue; }
    others.push_back(one->candidate);
  }
  return others;
}

Result<EnergyVerdict> judge_by(Objective objective, EnergyTrials& trials, std::span<const TimedSchedule> schedules,
                               std::size_t baselines) {
  EnergyVerdict verdict;
  std::vector<TimeAndEnergy> both;
  for (const TimedSchedule& schedule : schedules) {
    Result<SchemeEnergy> energy = trials.measure(schedule.label, schedule.order, schedule.plan);
    if (!energy) { return energy.error(); }
    both.push_back(time_and_energy(schedule, *energy));
    verdict.energy.push_back(*std::move(energy));
  }
  const std::span<const TimeAndEnergy> all(both);
  const ObjectiveChoice choice = choose_by(objective, all.first(baselines), all.subspan(baselines));
  verdict.baseline = choice.baseline;
  verdict.chosen = choice.finalist ? baselines + *choice.finalist : choice.baseline;
  // What time would have chosen among the baselines is what the objective costs time against.
  const std::size_t fastest = choose_by(Objective::time, all.first(baselines), {}).baseline;
  verdict.reason = in_words(objective, {both[verdict.chosen], both[verdict.baseline], both[fastest]},
                            {schedules[verdict.baseline].label, schedules[fastest].label});
  return verdict;
}

}  // namespace elbowroom::detail
