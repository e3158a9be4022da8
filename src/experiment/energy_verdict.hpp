#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/objective.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/tune/tuner.hpp"
#include "experiment/energy_trials.hpp"

namespace elbowroom::detail {

/// Schedules beside the fastest ones that an objective of energy looks at: the fastest of each other way to make room, at most this
/// many.
inline constexpr std::size_t kOtherWays = 3;

/// Those of `measured` that make room in another way than `known`, the fastest of each way, by time. No baselines.
std::vector<Candidate> fastest_of_other_ways(std::span<const MeasuredCandidate> measured, std::span<const Candidate> known);

/// Which of several timed schedules has the least of an objective.
struct EnergyVerdict {
  std::size_t chosen = 0;            ///< among all schedules
  std::size_t baseline = 0;          ///< the least baseline in the objective
  std::vector<SchemeEnergy> energy;  ///< of all schedules
  std::string reason;                ///< one line: "3.1 % less energy than priority; costs 1.2 % time"
};

/// Measures the energy of timed schedules, of which the first `baselines` are the baselines. One of the others is chosen where its
/// whole interval lies below that of the least baseline.
Result<EnergyVerdict> judge_by(Objective objective, EnergyTrials& trials, std::span<const TimedSchedule> schedules,
                               std::size_t baselines);

}  // namespace elbowroom::detail
