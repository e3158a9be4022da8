#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

/// What is lost at most, as a share of the best.
inline constexpr std::array<double, 3> kLosses = {0.01, 0.03, 0.05};

/// Values of an axis, by position, that lose no more than `loss` while the other axes stay at the best.
struct Slack {
  double loss = 0;
  std::size_t from = 0;
  std::size_t to = 0;

  bool operator==(const Slack&) const = default;
};

/// How flat the optimum of a grid is.
struct Flatness {
  std::vector<std::size_t> best;                                  ///< position on each axis
  std::optional<std::vector<std::size_t>> second;                 ///< absent where nothing else has a cost
  double second_loss = 0;                                         ///< what it costs more, as a share of the best
  std::vector<std::pair<std::size_t, std::vector<Slack>>> slack;  ///< by axis that is chosen, for each of kLosses

  bool operator==(const Flatness&) const = default;
};

/// An axis of a grid of costs.
struct GridAxis {
  std::size_t values = 1;
  bool chosen = true;  ///< otherwise its values are given, and each has a best choice of its own
};

/// One for each combination of given values that has a cost at all, the last axis running fastest. `costs`: above zero, in that
/// order too; absent where there is none. A range of slack ends at such a cell: nobody knows what lies behind it.
ELBOWROOM_API std::vector<Flatness> flatness_of(std::span<const GridAxis> axes, std::span<const std::optional<double>> costs);

/// Where the cell at these positions stands.
ELBOWROOM_API std::size_t cell_index(std::span<const GridAxis> axes, std::span<const std::size_t> at);

/// Its positions.
ELBOWROOM_API std::vector<std::size_t> cell_positions(std::span<const GridAxis> axes, std::size_t index);

}  // namespace elbowroom
