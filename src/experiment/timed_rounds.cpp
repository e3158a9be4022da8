#include "elbowroom/experiment/timed_rounds.hpp"

#include <fmt/format.h>

#include <random>
#include <utility>

namespace elbowroom {
namespace {

/// Fisher-Yates with the same result everywhere.
void shuffle(std::vector<TimedSchedule*>& order, std::mt19937_64& random) {
  for (std::size_t left = order.size(); left > 1; --left) { std::swap(order[left - 1], order[random() % left]); }
}

}  // namespace

Status time_in_rounds(CaseTrials& trials, std::span<TimedSchedule* const> schedules, const Rounds& rounds,
                      const std::function<Status(int)>& before) {
  std::mt19937_64 random(rounds.seed);
  std::vector<TimedSchedule*> order(schedules.begin(), schedules.end());
  for (int round = 0; round < rounds.warm_up + rounds.counted; ++round) {
    shuffle(order, random);
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
