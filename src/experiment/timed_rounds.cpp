#include "elbowroom/experiment/timed_rounds.hpp"

#include <fmt/format.h>

#include <random>

#include "experiment/shuffle.hpp"

namespace elbowroom {

Status time_in_rounds(CaseTrials& trials, std::span<TimedSchedule* const> schedules, const Rounds& rounds,
                      const std::function<Status(int)>& before) {
  std::mt19937_64 random(rounds.seed);
  std::vector<TimedSchedule*> order(schedules.begin(), schedules.end());
  for (int round = 0; round < rounds.warm_up + rounds.counted; ++round) {
    detail::shuffle(order, random);
    for (TimedSchedule* const schedule : order) {
      if (Status goes_on = before(round); !goes_on) { return goes_on; }
      const Result<Microseconds> time = trials.run(schedule->order, schedule->plan);
      if (!time) { return Error{time.error().kind, fmt::format("{}: {}", schedule->label, time.error().message)}; }
      if (round >= rounds.warm_up) { schedule->times.push_back(*time); }
    }
  }
  return {};
}

}  // namespace elbowroom
