#include "experiment/energy_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "elbowroom/energy/sampler.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom::detail {
namespace {

// A counter that moves every millisecond shows itself at once, one that moves every 100 ms in a second. With slower ones nothing
// can be measured in reasonable time.
constexpr std::array kWatched{Microseconds(5e4), Microseconds(1.2e6)};
constexpr Microseconds kWatchedEvery{500};
constexpr std::size_t kSeenUpdates = 8;

/// A counter moves after a span's end as well before what it counted there is known.
constexpr double kPeriodsBeyond = 2.5;

Status check_alone(const Sampled& sampled) {
  for (std::size_t gpu = 0; gpu < sampled.states.size(); ++gpu) {
    for (const GpuState& state : sampled.states[gpu]) {
      if (state.processes <= 1) { continue; }
      return unavailable(fmt::format("{} processes run on rank {}'s GPU, and its counter counts them all", state.processes, gpu));
    }
  }
  return {};
}

void add_states(const Sampled& sampled, SchemeEnergy& energy) {
  for (const std::vector<GpuState>& states : sampled.states) {
    energy.before.push_back(states.front());
    energy.after.push_back(states.back());
    for (const GpuState& state : states) {
      for (const std::string& reason : state.below_greatest_clock) {
        const bool known = std::ranges::find(energy.below_greatest_clock, reason) != energy.below_greatest_clock.end();
        if (!known) { energy.below_greatest_clock.push_back(reason); }
      }
    }
  }
}

Result<std::vector<std::string>> bus_ids_of(const Backend& backend, int ranks) {
  std::vector<std::string> ids;
  for (const DeviceInfo& device : std::span(backend.devices()).first(static_cast<std::size_t>(ranks))) {
    if (!device.bus_id) { return unavailable(fmt::format("GPU {}: its place on the bus is not known", device.index)); }
    ids.push_back(*device.bus_id);
  }
  return ids;
}

/// The longest period of the counters; absent where one was seen to move too rarely.
Result<std::optional<Microseconds>> slowest_of(std::span<const Samples> samples) {
  Microseconds slowest{0};
  for (const Samples& one : samples) {
    const Result<Samples> updates = updates_of(one);
    if (!updates) { return updates.error(); }
    const std::optional<Microseconds> period = period_of(*updates);
    if (!period || updates->size() < kSeenUpdates) { return std::optional<Microseconds>(); }
    slowest = std::max(slowest, *period);
  }
  return std::optional(slowest);
}

void pause(Microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace

Result<EnergyTrials> EnergyTrials::begin(const EnergySettings& settings, const Backend& backend, CaseTrials& trials,
                                         EnergyProgress before) {
  if (backend.provenance() == Provenance::simulated) { return unavailable("the simulator says nothing of energy"); }
  if (Status goes_on = before("measuring idle power"); !goes_on) { return goes_on.error(); }
  const Result<std::vector<std::string>> bus_ids = bus_ids_of(backend, trials.step().ranks);
  if (!bus_ids) { return bus_ids.error(); }
  Result<std::unique_ptr<EnergyMeter>> meter = settings.open(*bus_ids);
  if (!meter) { return meter.error(); }
  EnergyTrials energy(trials, std::move(*meter), std::move(before));
  if (Status found = energy.find_period(); !found) { return found.error(); }
  const Result<EnergySpans> spans = plan_spans(energy.period_, settings.span);
  if (!spans) { return invalid_input(fmt::format("energy span: {}", spans.error().message)); }
  energy.spans_ = *spans;
  if (Status idle = energy.measure_idle(); !idle) { return idle.error(); }
  return energy;
}

Status EnergyTrials::find_period() {
  for (const Microseconds watched : kWatched) {
    Sampler sampler(*meter_, kWatchedEvery);
    pause(watched);
    const Result<Sampled> sampled = sampler.stop();
    if (!sampled) { return sampled.error(); }
    const Result<std::optional<Microseconds>> period = slowest_of(sampled->samples);
    if (!period) { return period.error(); }
    if (!*period) { continue; }
    period_ = **period;
    return {};
  }
  return unavailable(
      fmt::format("the energy counter moves less than {} times in {:g} s", kSeenUpdates, kWatched.back().count() / 1e6));
}

Status EnergyTrials::measure_idle() {
  Sampler sampler(*meter_, spans_.sampling);
  pause(std::max(spans_.cool_down, period_ * kPeriodsBeyond));
  const Microseconds begin = Sampler::now();
  pause(spans_.idle);
  const Microseconds end = Sampler::now();
  pause(period_ * kPeriodsBeyond);
  const Result<Sampled> sampled = sampler.stop();
  if (!sampled) { return sampled.error(); }
  const Result<Watts> power = mean_power(sampled->samples, begin, end);
  if (!power) { return power.error(); }
  idle_ = *power;
  return {};
}

Status EnergyTrials::run_until(Microseconds end, Order order, const OverlapPlan& plan, std::vector<RunSpan>& runs) {
  do {
    const Microseconds begin = Sampler::now();
    if (const Result<Microseconds> time = trials_->run(order, plan); !time) { return time.error(); }
    runs.push_back({begin, Sampler::now()});
  } while (runs.back().end < end);
  return {};
}

Result<SchemeEnergy> EnergyTrials::measure(const std::string& label, Order order, const OverlapPlan& plan) {
  if (Status goes_on = before_("measuring energy of " + label); !goes_on) { return goes_on.error(); }
  pause(spans_.cool_down);
  std::vector<RunSpan> runs;
  if (Status warm = run_until(Sampler::now() + spans_.warm_up, order, plan, runs); !warm) { return warm.error(); }

  runs.clear();
  Sampler sampler(*meter_, spans_.sampling);
  const Microseconds ready = Sampler::now() + period_ * kPeriodsBeyond;
  if (Status settled = run_until(ready, order, plan, runs); !settled) { return settled.error(); }
  const Microseconds begin = runs.back().end;
  const std::size_t before = runs.size();
  // A run may be longer than the span that was asked for.
  do {
    if (Status ran = run_until(begin + spans_.span, order, plan, runs); !ran) { return ran.error(); }
  } while (runs.size() < before + kLeastRuns);
  const Microseconds end = runs.back().end;
  if (Status over = run_until(end + period_ * kPeriodsBeyond, order, plan, runs); !over) { return over.error(); }
  const Result<Sampled> sampled = sampler.stop();
  if (!sampled) { return sampled.error(); }
  if (Status alone = check_alone(*sampled); !alone) { return alone.error(); }

  const Result<JoulesPerIteration> joules = joules_per_iteration(sampled->samples, runs, trials_->step().repeats, begin, end);
  if (!joules) { return joules.error(); }
  SchemeEnergy energy;
  energy.per_iteration = *joules;
  energy.idle = idle_ * joules->length;
  energy.span = end - begin;
  add_states(*sampled, energy);
  energy.counter = meter_->library();
  energy.period = period_;
  return energy;
}

}  // namespace elbowroom::detail
