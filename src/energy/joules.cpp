#include "elbowroom/energy/joules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace elbowroom {
namespace {

constexpr std::int64_t kWrap = std::int64_t{1} << 32;
// No GPU takes more: a rise behind a wrap that would need more is none.
constexpr double kGreatestWatts = 5000;
// Student's t of kSpanParts - 1 = 9 degrees of freedom, two-sided 95 %.
constexpr double kStudent = 2.262;

Joules joules(Millijoules amount) { return {static_cast<double>(amount.count()) / 1000}; }

/// What was counted from `earlier` to `later`, which is lower; absent where no wrap explains it.
std::optional<Millijoules> across_wrap(const CounterReading& earlier, const CounterReading& later) {
  const Millijoules rise(later.energy.count() + kWrap - earlier.energy.count());
  const bool within = earlier.energy.count() < kWrap && later.energy.count() >= 0;
  const double watts = joules(rise).value * 1e6 / (later.at - earlier.at).count();
  return within && watts <= kGreatestWatts ? std::optional(rise) : std::nullopt;
}

/// A move may count what was taken in a longer time than since the move before; not in twenty times as long.
bool jumps(const CounterReading& earlier, const CounterReading& later) {
  constexpr double longer = 20;
  const double watts = joules(later.energy - earlier.energy).value * 1e6 / (later.at - earlier.at).count();
  return watts > longer * kGreatestWatts;
}

/// A line through neighbours of `samples`, at a time between the first and the last; absent elsewhere.
template <class Value>
std::optional<double> on_line(const Samples& samples, Microseconds at, Value value) {
  const auto next = std::ranges::lower_bound(samples, at, {}, &CounterReading::at);
  if (next == samples.end()) { return std::nullopt; }
  if (next->at == at) { return value(*next); }
  if (next == samples.begin()) { return std::nullopt; }
  const CounterReading& before = *std::prev(next);
  const double share = (at - before.at) / (next->at - before.at);
  return value(before) + (value(*next) - value(before)) * share;
}

struct Sums {
  double counted = 0;
  std::optional<double> integrated = 0.0;
};

Result<Sums> sums_of(std::span<const Samples> samples, std::span<const Samples> updates, Microseconds begin, Microseconds end) {
  Sums sums;
  for (std::size_t gpu = 0; gpu < updates.size(); ++gpu) {
    const Result<Joules> counted = counted_between(updates[gpu], begin, end);
    if (!counted) { return counted.error(); }
    sums.counted += counted->value;
    const std::optional<Joules> integrated = integrated_between(samples[gpu], begin, end);
    sums.integrated = integrated && sums.integrated ? std::optional(*sums.integrated + integrated->value) : std::nullopt;
  }
  return sums;
}

/// Half the width of a 95 % interval of the mean.
double half_width(std::span<const double> values) {
  double mean = 0;
  for (const double value : values) { mean += value; }
  const auto count = static_cast<double>(values.size());
  mean /= count;
  double squares = 0;
  for (const double value : values) { squares += (value - mean) * (value - mean); }
  return kStudent * std::sqrt(squares / (count - 1) / count);
}

Result<std::vector<Samples>> all_updates(std::span<const Samples> samples) {
  std::vector<Samples> updates;
  for (const Samples& one : samples) {
    Result<Samples> moved = updates_of(one);
    if (!moved) { return moved.error(); }
    updates.push_back(std::move(*moved));
  }
  return updates;
}

/// As longest_period(), of updates.
Result<Microseconds> slowest_period(std::span<const Samples> updates, Microseconds begin, Microseconds end) {
  Microseconds slowest{0};
  for (const Samples& moved : updates) {
    const auto inside = std::ranges::count_if(moved, [&](const CounterReading& one) { return one.at >= begin && one.at <= end; });
    const std::optional<Microseconds> period = period_of(moved);
    if (inside < kLeastUpdates || !period) {
      return invalid_input(fmt::format("the energy counter moved {} times in {:.3g} s, expected at least {}", inside,
                                       (end - begin).count() / 1e6, kLeastUpdates));
    }
    slowest = std::max(slowest, *period);
  }
  return slowest;
}

}  // namespace

Result<Samples> updates_of(const Samples& samples) {
  Samples updates;
  Millijoules beyond;
  for (std::size_t at = 0; at < samples.size(); ++at) {
    const CounterReading& sample = samples[at];
    if (at > 0 && sample.energy < samples[at - 1].energy) {
      if (!across_wrap(samples[at - 1], sample)) {
        return failed(fmt::format("the energy counter fell from {} to {} mJ: the driver was loaded anew, or the GPU was reset",
                                  samples[at - 1].energy.count(), sample.energy.count()));
      }
      beyond += Millijoules(kWrap);
    }
    CounterReading whole = sample;
    whole.energy += beyond;
    if (!updates.empty() && jumps(updates.back(), whole)) {
      return failed(fmt::format("the energy counter rose by {} mJ in {:.0f} ms, which no GPU takes",
                                (whole.energy - updates.back().energy).count(), (whole.at - updates.back().at).count() / 1000));
    }
    if (updates.empty() || whole.energy != updates.back().energy) { updates.push_back(whole); }
  }
  return updates;
}

std::optional<Microseconds> period_of(const Samples& updates) {
  // The first sample is no update.
  if (updates.size() < 3) { return std::nullopt; }
  std::vector<Microseconds> gaps;
  for (std::size_t at = 2; at < updates.size(); ++at) { gaps.push_back(updates[at].at - updates[at - 1].at); }
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  return *middle;
}

Result<Joules> counted_between(const Samples& updates, Microseconds begin, Microseconds end) {
  const auto energy = [](const CounterReading& reading) { return joules(reading.energy).value; };
  const std::optional<double> first = on_line(updates, begin, energy);
  const std::optional<double> last = on_line(updates, end, energy);
  if (!first || !last) { return invalid_input("the energy counter did not move both before and after the span"); }
  return Joules{*last - *first};
}

std::optional<Joules> integrated_between(const Samples& samples, Microseconds begin, Microseconds end) {
  if (!std::ranges::all_of(samples, [](const CounterReading& sample) { return sample.power.has_value(); })) { return std::nullopt; }
  const auto watts = [](const CounterReading& reading) { return reading.power->value; };
  const std::optional<double> first = on_line(samples, begin, watts);
  const std::optional<double> last = on_line(samples, end, watts);
  if (!first || !last) { return std::nullopt; }
  double sum = 0;
  Microseconds at = begin;
  double power = *first;
  const auto add = [&](Microseconds next, double next_power) {
    sum += (power + next_power) / 2 * (next - at).count() / 1e6;
    at = next;
    power = next_power;
  };
  for (const CounterReading& sample : samples) {
    if (sample.at > begin && sample.at < end) { add(sample.at, watts(sample)); }
  }
  add(end, *last);
  return Joules{sum};
}

double iterations_at(std::span<const RunSpan> runs, int iterations, Microseconds at) {
  const auto begun = std::ranges::partition_point(runs, [&](const RunSpan& run) { return run.begin < at; });
  if (begun == runs.begin()) { return 0; }
  const RunSpan& last = *std::prev(begun);
  const double share = last.end > last.begin ? std::min(1.0, (at - last.begin) / (last.end - last.begin)) : 1.0;
  return (static_cast<double>(begun - runs.begin()) - 1 + share) * iterations;
}

Result<JoulesPerIteration> joules_per_iteration(std::span<const Samples> samples, std::span<const RunSpan> runs, int iterations,
                                                Microseconds begin, Microseconds end) {
  const auto done = [&](Microseconds at) { return iterations_at(runs, iterations, at); };
  const double all = done(end) - done(begin);
  if (all < static_cast<double>(kLeastRuns) * iterations) {
    return invalid_input(fmt::format("the span holds {:.1f} runs, expected at least {}", all / iterations, kLeastRuns));
  }
  return joules_per_iteration(samples, all, begin, end);
}

Result<JoulesPerIteration> joules_per_iteration(std::span<const Samples> samples, double all, Microseconds begin,
                                                Microseconds end) {
  const Result<std::vector<Samples>> updates = all_updates(samples);
  if (!updates) { return updates.error(); }
  const Result<Microseconds> period = slowest_period(*updates, begin, end);
  if (!period) { return period.error(); }
  const Result<Sums> whole = sums_of(samples, *updates, begin, end);
  if (!whole) { return whole.error(); }

  std::vector<double> parts;
  for (int part = 0; part < kSpanParts; ++part) {
    const Microseconds from = begin + (end - begin) * part / kSpanParts;
    const Microseconds to = begin + (end - begin) * (part + 1) / kSpanParts;
    const Result<Sums> sums = sums_of(samples, *updates, from, to);
    if (!sums) { return sums.error(); }
    // Iterations end unevenly in short parts; energy by time does not.
    parts.push_back(sums->counted * kSpanParts / all);
  }
  JoulesPerIteration result;
  result.joules = {whole->counted / all};
  result.resolution = *period / (end - begin);
  const double wide = half_width(parts) + result.resolution * result.joules.value;
  result.low = {std::max(0.0, result.joules.value - wide)};
  result.high = {result.joules.value + wide};
  result.length = (end - begin) / all;
  result.iterations = all;
  if (whole->integrated && *whole->integrated > 0) { result.counter_over_power = whole->counted / *whole->integrated; }
  return result;
}

Result<Microseconds> longest_period(std::span<const Samples> samples, Microseconds begin, Microseconds end) {
  const Result<std::vector<Samples>> updates = all_updates(samples);
  if (!updates) { return updates.error(); }
  return slowest_period(*updates, begin, end);
}

Result<Watts> mean_power(std::span<const Samples> samples, Microseconds begin, Microseconds end) {
  const Result<std::vector<Samples>> updates = all_updates(samples);
  if (!updates) { return updates.error(); }
  const Result<Sums> sums = sums_of(samples, *updates, begin, end);
  if (!sums) { return sums.error(); }
  return Watts{sums->counted * 1e6 / (end - begin).count()};
}

}  // namespace elbowroom
