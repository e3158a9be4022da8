#include "backend_sim/kernel_profiles.hpp"

#include <algorithm>

namespace elbowroom::sim {
namespace {

// Tiles of the blocks at one grid coordinate: every block strides by the grid's extent.
std::int64_t share(std::int64_t at, std::int64_t extent, std::int64_t tiles) {
  return tiles / extent + (at < tiles % extent ? 1 : 0);
}

}  // namespace

double BlockWork::tiles(std::int64_t block) const {
  return static_cast<double>(share(block % x, x, tiles_x) * share(block / x, y, tiles_y));
}

std::int64_t BlockWork::run(std::int64_t block) const {
  const std::int64_t column = block % x;
  const std::int64_t row = block / x;
  const std::int64_t longer = tiles_x % x;
  if (longer != 0) { return column < longer ? longer - column : x - column; }
  // All columns alike: the run ends where rows change their share.
  const std::int64_t longer_rows = tiles_y % y;
  const std::int64_t last_row = row < longer_rows ? longer_rows : y;
  return (last_row - row) * x - column;
}

}  // namespace elbowroom::sim
