#include "elbowroom/energy/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace elbowroom {
namespace {

constexpr std::array kNames{std::pair(Objective::time, "time"), std::pair(Objective::energy, "energy"),
                            std::pair(Objective::product, "product")};

double percent_above(double value, double other) { return 100 * (value / other - 1); }

std::size_t least_of(Objective objective, std::span<const TimeAndEnergy> schedules) {
  const auto value = [&](const TimeAndEnergy& schedule) { return value_of(objective, schedule).value; };
  return static_cast<std::size_t>(std::ranges::min_element(schedules, {}, value) - schedules.begin());
}

}  // namespace

std::string_view to_string(Objective objective) {
  return std::ranges::find(kNames, objective, &decltype(kNames)::value_type::first)->second;
}

Result<Objective> parse_objective(std::string_view text) {
  const auto* const found = std::ranges::find(kNames, text, &decltype(kNames)::value_type::second);
  if (found != kNames.end()) { return found->first; }
  return invalid_input(fmt::format("'{}', expected time, energy or product", text));
}

Valued value_of(Objective objective, const TimeAndEnergy& one) {
  const Valued time{one.time.count(), one.time_low.count(), one.time_high.count()};
  const Valued energy{one.joules.value, one.joules_low.value, one.joules_high.value};
  if (objective == Objective::time) { return time; }
  if (objective == Objective::energy) { return energy; }
  return {time.value * energy.value, time.low * energy.low, time.high * energy.high};
}

ObjectiveChoice choose_by(Objective objective, std::span<const TimeAndEnergy> baselines, std::span<const TimeAndEnergy> finalists) {
  ObjectiveChoice choice{least_of(objective, baselines), std::nullopt};
  if (finalists.empty()) { return choice; }
  const std::size_t least = least_of(objective, finalists);
  const bool below = value_of(objective, finalists[least]).high < value_of(objective, baselines[choice.baseline]).low;
  if (below) { choice.finalist = least; }
  return choice;
}

std::string in_words(Objective objective, const ObjectiveSides& sides, const SideNames& names) {
  const double less = -percent_above(value_of(objective, sides.chosen).value, value_of(objective, sides.baseline).value);
  const std::string gain = less > 0 ? fmt::format("{:.1f} % less than {}", less, names.baseline)
                                    : fmt::format("no plan is beyond noise below {}", names.baseline);
  return fmt::format("{}: {}; beside {}, the fastest baseline: time {:+.1f} %, energy {:+.1f} %", to_string(objective), gain,
                     names.fastest, percent_above(sides.chosen.time.count(), sides.fastest.time.count()),
                     percent_above(sides.chosen.joules.value, sides.fastest.joules.value));
}

}  // namespace elbowroom
