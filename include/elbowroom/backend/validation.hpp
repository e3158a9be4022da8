#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// One measured row and what the simulator says of it.
struct RowPrediction {
  std::string group;   ///< kernel, collective and everything else that the rows of a group share
  std::string scheme;  ///< as in the file: compute_only, comm_only, sequential, concurrent
  bool priority = false;
  int blocks_per_sm = 0;
  Microseconds measured{0};
  Microseconds predicted{0};

  /// |predicted / measured - 1|
  [[nodiscard]] double error() const;
};

/// Predictions in the file's order, and what they come to.
struct PredictionTable {
  std::vector<RowPrediction> rows;
  double median_error = 0;
  double p90_error = 0;  ///< nearest rank
  double worst_error = 0;
  int groups = 0;             ///< with at least two concurrent rows, so that there is something to choose
  double best_pick_rate = 0;  ///< of them, whose predicted best (priority, residency) was measured within 3 % of their best
};

struct Validation {
  /// Isolated rows (compute_only at each residency, comm_only) taken as given; sequential and concurrent rows predicted.
  PredictionTable given_isolated;
  /// Every row predicted from the scenario alone.
  PredictionTable absolute;
};

/// Compares the simulator of `device` with measured rows in the format of data/README.md. `invalid_input` is one
/// line that names `source`, the line, the field and what was expected. Takes seconds for hundreds of rows.
ELBOWROOM_API Result<Validation> validate_simulator(std::string_view csv, std::string_view source, const DeviceLimits& device);

}  // namespace elbowroom
