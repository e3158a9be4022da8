#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/sweep_axis.hpp"
#include "elbowroom/report/flatness.hpp"
#include "elbowroom/report/origin.hpp"
#include "elbowroom/trace/summary.hpp"

namespace elbowroom {

/// What one pair of values gave. Either times or the reason why there are none.
struct SweepCell {
  OverlapPlan plan;
  std::optional<Summary> time;
  /// To two plain streams in the same rounds, so that what drifts from cell to cell stays out of it.
  std::optional<RatioSummary> ratio;
  std::optional<std::string> refused;

  bool operator==(const SweepCell&) const = default;
};

/// One case through all pairs of values.
struct SweepCase {
  Case what;                                    ///< a step has axes of controls alone
  std::vector<SweepAxis> axes;                  ///< one or two, all with values
  std::vector<std::optional<SweepCell>> cells;  ///< the last axis running fastest; absent: not run yet

  /// Of cells that are there, by their ratio.
  [[nodiscard]] ELBOWROOM_API std::vector<Flatness> flatness() const;
  [[nodiscard]] ELBOWROOM_API std::vector<GridAxis> grid() const;
};

struct SweepDocument {
  Origin origin;
  int trials = 1;
  std::optional<std::string> plan;  ///< what every cell's plan has besides, as it is typed
  std::vector<SweepCase> cases;

  [[nodiscard]] ELBOWROOM_API std::size_t cells() const;
  /// Of them, those that are there.
  [[nodiscard]] ELBOWROOM_API std::size_t done() const;
};

/// An `elbowroom.sweep/1` document.
ELBOWROOM_API std::string to_json(const SweepDocument& document);

/// Takes the cells of an earlier document of the same grid into this one, which has none. `invalid_input` in a line that begins
/// with `source` where the document is damaged, and where anything but the cells differs. Never throws, whatever the text is.
ELBOWROOM_API Status take_cells(SweepDocument& document, std::string_view json, const std::string& source);

/// The times as a grid, and how flat the best is. Every line but those of times begins with '#'.
ELBOWROOM_API std::string to_table(const SweepCase& swept, const Origin& origin);

}  // namespace elbowroom
