#include "elbowroom/energy/span.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "elbowroom/energy/joules.hpp"

namespace elbowroom {
namespace {

constexpr double kPeriods = 300;
constexpr Microseconds kLeast{1e6};
// Shares of a span. A clock settles in seconds; the power that a driver shows is a mean of one.
constexpr double kWarmUp = 0.1;
constexpr double kCoolDown = 0.1;
constexpr double kIdle = 0.2;
// A counter is read several times in its period, and so rarely that reading costs nothing.
constexpr double kReadsInPeriod = 5;
constexpr Microseconds kOftenest{500};
constexpr Microseconds kRarest{20'000};

}  // namespace

Result<EnergySpans> plan_spans(Microseconds period, std::optional<Microseconds> asked) {
  // Updates at both ends may fall outside.
  const Microseconds least = period * (kLeastUpdates + 2);
  if (asked && *asked < least) {
    return invalid_input(fmt::format("{:g} s, expected at least {:g} s: the counter moves every {:g} ms", asked->count() / 1e6,
                                     least.count() / 1e6, period.count() / 1e3));
  }
  EnergySpans spans;
  spans.span = asked.value_or(std::max(period * kPeriods, kLeast));
  spans.warm_up = spans.span * kWarmUp;
  spans.cool_down = spans.span * kCoolDown;
  spans.idle = std::max(spans.span * kIdle, least);
  spans.sampling = std::clamp(period / kReadsInPeriod, kOftenest, kRarest);
  return spans;
}

}  // namespace elbowroom
