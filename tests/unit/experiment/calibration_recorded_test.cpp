#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error_spread.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/model/device_file.hpp"
#include "experiment/calibration_cases.hpp"
#include "experiment/predicting_simulator.hpp"

namespace elbowroom {
namespace {

std::ifstream recorded(const std::string& ending) {
  return std::ifstream(std::string(ELBOWROOM_SOURCE_DIR) + "/results/h200/calibrated-one-way-2gpu." + ending);
}

struct Held {
  double measured_ms = 0;
  bool out = false;
};

/// By case and schedule; lines are `case,"schedule",held_out,measured_ms,simulated_ms`.
std::map<std::pair<std::string, std::string>, Held> recorded_rows() {
  std::map<std::pair<std::string, std::string>, Held> rows;
  std::ifstream file = recorded("csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    std::istringstream rest(line.substr(close + 2));
    Held row;
    char comma = 0;
    rest >> row.out >> comma >> row.measured_ms;
    rows[{line.substr(0, open - 1), line.substr(open + 1, close - open - 1)}] = row;
  }
  return rows;
}

// What `elbowroom calibrate` measured on two H200, and the constants that it fitted there.
TEST(CalibrationOfH200, PredictsThePairsThatItHeldOut) {
  std::ifstream file = recorded("json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<DeviceLimits> device = parse_device(text, "calibrated.json");
  ASSERT_TRUE(device) << device.error().message;
  const std::unique_ptr<Backend> simulator = *detail::predicting_simulator(*device);
  const auto rows = recorded_rows();
  std::vector<double> errors;
  for (const Scenario& scenario : detail::calibration_cases(2)) {
    Result<CaseTrials> trials = CaseTrials::prepare(*simulator, scenario);
    ASSERT_TRUE(trials) << trials.error().message;
    const Result<std::vector<TimedSchedule>> schedules = detail::schedules_of_calibration(*trials);
    ASSERT_TRUE(schedules) << schedules.error().message;
    for (const TimedSchedule& schedule : *schedules) {
      const auto row = rows.find({scenario.name, schedule.label});
      ASSERT_NE(row, rows.end()) << scenario.name << ": " << schedule.label;
      if (!row->second.out) { continue; }
      const double simulated_ms = trials->run(schedule.order, schedule.plan)->count() / 1000;
      errors.push_back(std::abs(simulated_ms / row->second.measured_ms - 1));
    }
  }
  ASSERT_EQ(errors.size(), 25U);
  const detail::ErrorSpread spread = detail::spread_of(std::move(errors));
  EXPECT_LE(spread.median, 0.05);
  EXPECT_LE(spread.nine_in_ten, 0.12);
  EXPECT_LE(spread.worst, device->facts->model->width + 0.001);
}

}  // namespace
}  // namespace elbowroom
