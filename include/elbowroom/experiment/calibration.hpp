#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/report/origin.hpp"

namespace elbowroom {

struct CalibrationSettings {
  int gpus = 2;                      ///< 2 or more, of one host
  int trials = 7;                    ///< of each schedule; their median counts
  std::uint64_t seed = 1;            ///< of what is held out, of data and of the order of trials
  std::vector<Scenario> cases = {};  ///< that are measured, on so many GPUs; empty: 29 that tell the constants from one another
};

/// One schedule of a case: what the machine took, and what the simulator says with the fitted constants.
struct CalibrationPoint {
  std::string name;       ///< of the case: "gelu-256-ar-64-2b"
  std::string schedule;   ///< "both, priority"
  bool held_out = false;  ///< the fit did not see it
  Microseconds measured{0};
  Microseconds simulated{0};

  /// |simulated / measured - 1|
  [[nodiscard]] double error() const;
};

struct FittedConstant {
  std::string name;  ///< of the device file's `simulator`
  double start = 0;
  double fitted = 0;
};

struct Calibration {
  Origin origin;        ///< of what was measured
  DeviceLimits device;  ///< with the fitted constants and the width
  std::string start;    ///< whose constants the fit began with
  std::vector<FittedConstant> constants;
  std::vector<CalibrationPoint> points;
  std::vector<std::string> refused;  ///< cases that did not run here, with the reason
  double median = 0;                 ///< of the held out points' errors
  double nine_in_ten = 0;
  double worst = 0;
};

/// Measures kernels, collectives and pairs of them on `backend`, and fits the simulator's constants to two thirds of the pairs and
/// to all that ran alone. The other pairs say how far off it is: the worst of them is the device's width. Takes a minute and a half
/// on GPUs. `before` is told each step and may end it. `invalid_input` where too little runs here for a fit.
ELBOWROOM_API Result<Calibration> calibrate(Backend& backend, const CalibrationSettings& settings,
                                            const std::function<Status(std::string_view)>& before);

/// The constants, and how far off what was held out is.
ELBOWROOM_API std::string to_table(const Calibration& calibration);

/// Every schedule that was measured, as CSV: case, schedule, held_out (0 or 1), measured_ms, simulated_ms.
ELBOWROOM_API std::string measured_csv(const Calibration& calibration);

/// An `elbowroom.device/1` document (model/device_file.hpp), written by this version of Elbowroom.
ELBOWROOM_API std::string device_file(const Calibration& calibration, std::string_view version);

}  // namespace elbowroom
