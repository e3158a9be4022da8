#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/energy/reading.hpp"

namespace elbowroom {

/// Samples of one GPU in the order of their times.
using Samples = std::vector<CounterReading>;

/// The samples at which the counter had moved, with the first one. Behind a wrap of 32 bits the counter goes on; `failed` where it
/// fell otherwise: the driver was loaded anew.
ELBOWROOM_API Result<Samples> updates_of(const Samples& samples);

/// The median time between updates; absent for fewer than three updates. `updates` as updates_of gives them.
ELBOWROOM_API std::optional<Microseconds> period_of(const Samples& updates);

/// What the counter counted from `begin` to `end`, on a line between the updates around each. `invalid_input` where no updates are
/// around.
ELBOWROOM_API Result<Joules> counted_between(const Samples& updates, Microseconds begin, Microseconds end);

/// The power samples' integral over the same time, by trapezoids. Absent where a sample has no power or none is around an end.
ELBOWROOM_API std::optional<Joules> integrated_between(const Samples& samples, Microseconds begin, Microseconds end);

/// One run of a schedule, on the clock of the samples.
struct RunSpan {
  Microseconds begin{0};
  Microseconds end{0};
};

/// Iterations that are over at a time: a run of `iterations` that is under way counts by the share of its time. `runs` by time.
ELBOWROOM_API double iterations_at(std::span<const RunSpan> runs, int iterations, Microseconds at);

/// Energy of one iteration, all GPUs together.
struct JoulesPerIteration {
  Joules joules;  ///< of the whole span
  Joules low;     ///< with `high` a 95 % interval of the mean over the span's parts, widened by the resolution
  Joules high;
  double resolution = 0;   ///< the counter's period over the span: how far off its ends can be, as a share
  Microseconds length{0};  ///< of one iteration, with what lies between runs
  double iterations = 0;   ///< in the span
  std::optional<double> counter_over_power = std::nullopt;  ///< the counter's energy / that of the power samples
};

/// Parts into which a span is cut for the interval.
inline constexpr int kSpanParts = 10;

/// The span from `begin` to `end`, in which runs of `iterations` each follow one another. `samples`: of each GPU, from before
/// `begin` to after `end`. `invalid_input` where the span holds fewer than kLeastRuns or kLeastUpdates.
ELBOWROOM_API Result<JoulesPerIteration> joules_per_iteration(std::span<const Samples> samples, std::span<const RunSpan> runs,
                                                              int iterations, Microseconds begin, Microseconds end);

/// The same of a span that holds so many `iterations`, whatever they were made of.
ELBOWROOM_API Result<JoulesPerIteration> joules_per_iteration(std::span<const Samples> samples, double iterations,
                                                              Microseconds begin, Microseconds end);

/// In a span: of a single one the pauses around it would be a part that differs from span to span.
inline constexpr std::size_t kLeastRuns = 2;

/// Of a counter inside a span; its ends are then uncertain by 5 % of it at most.
inline constexpr int kLeastUpdates = 20;

/// The longest of the GPUs' periods. `invalid_input` where a counter moved fewer than kLeastUpdates times in the span.
ELBOWROOM_API Result<Microseconds> longest_period(std::span<const Samples> samples, Microseconds begin, Microseconds end);

/// Power while nothing runs, all GPUs together.
ELBOWROOM_API Result<Watts> mean_power(std::span<const Samples> samples, Microseconds begin, Microseconds end);

constexpr Joules operator*(Watts power, Microseconds time) { return {power.value * time.count() / 1e6}; }

}  // namespace elbowroom
