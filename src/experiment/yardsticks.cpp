#include "experiment/yardsticks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "elbowroom/plan/critical_path.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"

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
    if (!ran) { return ran.error(); }
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
    if (!time) { return time.error(); }
    kinds.push_back(at);
    times.push_back(*time);
  }
  return times;
}

/// Sums of the same times in another order differ in their last digits.
bool is_shorter(Microseconds path, Microseconds in_turn) {
  constexpr double kRounding = 1e-9;
  return path < in_turn * (1 - kRounding);
}

Yardsticks of_scenario(const Scenario& scenario, const DeviceLimits& device, Microseconds compute, Microseconds comm) {
  const Microseconds path = critical_path(scenario, compute, comm);
  return {path, hardware_limit(scenario, device, compute, comm), is_shorter(path, compute + comm)};
}

}  // namespace

OverlapMetrics Yardsticks::metrics(Microseconds time, Microseconds sequential) const {
  OverlapMetrics metrics = overlap_metrics(time, sequential, critical_path);
  // What `sequential` takes longer then is the cost of its launches, and no share of that is a share of overlap.
  if (!can_overlap) { metrics.overlap_efficiency.reset(); }
  return metrics;
}

Result<Yardsticks> yardsticks_of(CaseTrials& trials, Microseconds compute, Microseconds comm) {
  if (const auto* scenario = std::get_if<Scenario>(&trials.what())) {
    return of_scenario(*scenario, trials.device(), compute, comm);
  }
  const Result<std::vector<Microseconds>> alone = isolated_times(trials);
  if (!alone) { return alone.error(); }
  const Result<Program> program = lower(trials.step(), Order::concurrent, {});
  if (!program) { return program.error(); }
  const Result<Program> in_turn = lower(trials.step(), Order::sequential, {});
  if (!in_turn) { return in_turn.error(); }
  const Microseconds path = critical_path(trials.step(), *program, *alone);
  return Yardsticks{path, hardware_limit(trials.step(), trials.device(), *alone),
                    is_shorter(path, critical_path(trials.step(), *in_turn, *alone))};
}

}  // namespace elbowroom::detail
