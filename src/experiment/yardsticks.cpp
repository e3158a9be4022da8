#include "experiment/yardsticks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "elbowroom/plan/critical_path.hpp"
#include "elbowroom/plan/lower.hpp"

namespace elbowroom::detail {
namespace {

// The one in the middle counts: the first may find cold caches.
constexpr std::size_t kAloneRuns = 3;

bool alike_alone(const Step& step, const Operation& one, const Operation& other) {
  return one.what == other.what && communicator_size(step, one) == communicator_size(step, other) && one.along == other.along;
}

Result<Microseconds> middle_time(CaseTrials& trials, int operation) {
  std::array<Microseconds, kAloneRuns> times{};
  for (Microseconds& time : times) {
    const Result<Microseconds> ran = trials.run_alone(operation);
    if (!ran) return ran.error();
    time = *ran;
  }
  std::ranges::sort(times);
  return times[kAloneRuns / 2];
}

/// By operation of the step.
Result<std::vector<Microseconds>> isolated_times(CaseTrials& trials) {
  const std::vector<Operation>& operations = trials.step().operations;
  std::vector<std::size_t> kinds;  // the first operation of each
  std::vector<Microseconds> times;
  for (std::size_t at = 0; at < operations.size(); ++at) {
    const auto known = std::ranges::find_if(
        kinds, [&](std::size_t first) { return alike_alone(trials.step(), operations[first], operations[at]); });
    if (known != kinds.end()) {
      times.push_back(times[*known]);
      continue;
    }
    const Result<Microseconds> time = middle_time(trials, static_cast<int>(at));
    if (!time) return time.error();
    kinds.push_back(at);
    times.push_back(*time);
  }
  return times;
}

}  // namespace

Result<Yardsticks> yardsticks_of(CaseTrials& trials, Microseconds compute, Microseconds comm) {
  if (const auto* scenario = std::get_if<Scenario>(&trials.what())) {
    return Yardsticks{critical_path(*scenario, compute, comm), hardware_limit(*scenario, trials.device(), compute, comm)};
  }
  const Result<std::vector<Microseconds>> alone = isolated_times(trials);
  if (!alone) return alone.error();
  const Result<Program> program = lower(trials.step(), Order::concurrent, {});
  if (!program) return program.error();
  Yardsticks yardsticks{critical_path(trials.step(), *program, *alone), std::nullopt};
  if (const std::optional<DeviceRates> rates = rates_of(trials.device())) {
    yardsticks.hardware_limit = hardware_limit(trials.step(), *rates, *alone);
  }
  return yardsticks;
}

}  // namespace elbowroom::detail
