#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/energy/joules.hpp"

namespace elbowroom {

/// What a search makes least.
enum class Objective {
  time,
  energy,   ///< joules per iteration
  product,  ///< joules times time per iteration
};

ELBOWROOM_API std::string_view to_string(Objective objective);
/// `invalid_input`: "'x', expected time, energy or product".
ELBOWROOM_API Result<Objective> parse_objective(std::string_view text);

/// A schedule's time and energy, each with its interval.
struct TimeAndEnergy {
  Microseconds time{0}, time_low{0}, time_high{0};
  Joules joules, joules_low, joules_high;
};

struct Valued {
  double value = 0, low = 0, high = 0;
};

/// In J, us or J us; ends of a product are products of ends.
ELBOWROOM_API Valued value_of(Objective objective, const TimeAndEnergy& schedule);

/// The least of `finalists` where its whole interval lies below that of the least baseline. Absent: that baseline stays.
/// `baselines` has one.
struct ObjectiveChoice {
  std::size_t baseline = 0;             ///< the least in the objective
  std::optional<std::size_t> finalist;  ///< chosen instead of it
};
ELBOWROOM_API ObjectiveChoice choose_by(Objective objective, std::span<const TimeAndEnergy> baselines,
                                        std::span<const TimeAndEnergy> finalists);

/// Three schedules that a choice is told by; they may be the same.
struct ObjectiveSides {
  TimeAndEnergy chosen;
  TimeAndEnergy baseline;  ///< the least baseline in the objective
  TimeAndEnergy fastest;   ///< the fastest baseline
};
struct SideNames {
  std::string baseline;
  std::string fastest;
};

/// "energy: 10.0 % less than shaped; beside priority, the fastest baseline: time +2.0 %, energy -12.0 %".
ELBOWROOM_API std::string in_words(Objective objective, const ObjectiveSides& sides, const SideNames& names);

}  // namespace elbowroom
