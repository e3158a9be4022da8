#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom::sim {

/// One line of a file of measured rows.
struct MeasuredRow {
  int line = 0;                              ///< in the file, from 1
  std::string group;                         ///< the columns that the rows of a group share, joined by blanks
  Scenario scenario;                         ///< compute, collective with its budget, gpus, iterations, pattern
  std::optional<KernelFootprint> footprint;  ///< of the compute kernel; absent for a library's
  std::optional<Threads> comm_threads;       ///< NCCL_NTHREADS where it was set
  Order order = Order::concurrent;
  std::string scheme;
  bool priority = false;
  int blocks_per_sm = 0;
  Bytes pad;
  Microseconds time{0};
};

/// Reads the columns named in data/README.md, in any order; further columns and empty lines are ignored, blanks around a field and
/// carriage returns too. Columns with a default there may be missing. `invalid_input` is one line that begins with `source` and the
/// number of the line. Never throws, whatever the text is.
Result<std::vector<MeasuredRow>> parse_measured_rows(std::string_view csv, std::string_view source);

}  // namespace elbowroom::sim
