#pragma once

#include <string_view>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

enum class Order;
class CaseTrials;
struct TimedSchedule;

}  // namespace elbowroom

namespace elbowroom::detail {

/// How a calibration runs each of its cases.
struct CalibrationSchedule {
  std::string_view name;
  Order order;
  std::string_view plan;  ///< as parse_plan() reads it; empty: no control
};

/// Those of computation alone, of the collective alone, and of both. What cannot act on a kernel is left out.
std::vector<CalibrationSchedule> calibration_schedules();
/// The same with the plan that each means for this case.
Result<std::vector<TimedSchedule>> schedules_of_calibration(const CaseTrials& trials);

/// Elementwise kernels, products of this project and of the library, each beside a collective: sizes, types and block budgets that
/// tell the simulator's constants from one another. Every case's data take at most 2 GiB a GPU.
std::vector<Scenario> calibration_cases(int gpus);

}  // namespace elbowroom::detail
