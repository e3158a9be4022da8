#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/calibration.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

struct DeviceFacts;

}  // namespace elbowroom

namespace elbowroom::detail {

/// A case as it was measured.
struct CalibrationCase {
  Scenario scenario;
  std::vector<TimedSchedule> schedules;
};

/// Fits the constants of `start` to what was measured, a third of the pairs held out by `seed`, and says how far off those are.
/// `made` has what is known before: origin, device, start and what was refused. `invalid_input` where the pairs are too few.
Result<Calibration> fitted(Calibration made, const DeviceFacts& start, const std::vector<CalibrationCase>& cases,
                           std::uint64_t seed, const std::function<Status(std::string_view)>& before);

}  // namespace elbowroom::detail
