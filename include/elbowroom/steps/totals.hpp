#pragma once

#include <map>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom {

/// Communication of one kind on one rank and in one repeat.
struct CommTotal {
  int operations = 0;
  Bytes bytes;  ///< as documents count them: the buffers of collectives, what a transfer sends

  bool operator==(const CommTotal&) const = default;
};

/// What one rank does in one repeat of a step.
struct StepTotals {
  int operations = 0;
  double gemm_flop = 0;                   ///< 2 m n k of every product
  Bytes elementwise;                      ///< read; as many are written
  std::map<std::string, CommTotal> comm;  ///< by "all_reduce dp": what, along which axes

  bool operator==(const StepTotals&) const = default;
};

/// `step` is valid and has that rank.
ELBOWROOM_API StepTotals totals_of(const Step& step, int rank);

}  // namespace elbowroom
