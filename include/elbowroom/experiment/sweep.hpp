#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/report/sweep_document.hpp"

namespace elbowroom {

struct SweepSettings {
  std::vector<SweepAxis> axes;      ///< one or two
  std::optional<std::string> plan;  ///< what every cell's plan has besides, as parse_plan reads it
  int trials = 10;                  ///< counted; half as many rounds before them are warm-up
  std::uint64_t seed = 1;
};

/// The grids of a sweep, with no cell run. Makes each case ready once where an axis says no values. `invalid_input` names the axis
/// or the case that cannot be. Members of a scenario are no axes of a step.
ELBOWROOM_API Result<SweepDocument> plan_sweep(Backend& backend, const std::vector<Case>& cases, const SweepSettings& settings);

/// Where a sweep is, told before each cell and, with the cell in the document, after it. An error ends the sweep with it.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual Status begin(const SweepCase& swept, std::size_t cell) = 0;
  virtual Status end(const SweepDocument& document) = 0;
};

/// Runs every cell that the document lacks: verifies its results, and times it in turns with two plain streams. A plan that cannot
/// act is a cell with its reason; a wrong result or a device error is an Error.
ELBOWROOM_API Status run_sweep(Backend& backend, SweepDocument& document, SweepObserver& observer);

}  // namespace elbowroom
