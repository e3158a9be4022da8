#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "elbowroom/model/kernel_footprint.hpp"

namespace elbowroom::sim {

// What the engine knows of a kernel. Times in microseconds, amounts in bytes, rates in bytes per microsecond.

/// Work of a launch's blocks in launch order, in units of a tile. A grid of `x` by `y` blocks loops over `tiles_x` by `tiles_y`
/// tiles, x fastest. Some blocks get one tile more than others, blocks beyond the tiles get none. Of a persistent kernel only the
/// numbers of blocks and of tiles count.
struct BlockWork {
  std::int64_t x = 1, y = 1;
  std::int64_t tiles_x = 1, tiles_y = 1;

  [[nodiscard]] std::int64_t blocks() const { return x * y; }
  [[nodiscard]] double tiles(std::int64_t block) const;
  /// Blocks from `block` on, itself included, that have the same number of tiles.
  [[nodiscard]] std::int64_t run(std::int64_t block) const;

  bool operator==(const BlockWork&) const = default;
};

struct ComputeProfile {
  KernelFootprint footprint;  ///< padding included
  BlockWork work;
  bool persistent = false;  ///< as many blocks as there are SMs to use, each of which takes tile after tile until none is left
  /// Time of one tile with k such blocks on its SM, at index k-1, while memory answers at its unloaded latency.
  std::vector<double> tile_time;
  double block_overhead = 0;  ///< start and end of a block, whatever its tiles
  double traffic = 0;         ///< bytes to and from device memory per tile
  double memory_share = 0;    ///< of a tile's time that stretches with the memory's latency

  bool operator==(const ComputeProfile&) const = default;
};

/// A rate of what is not limited.
inline constexpr double kNoLimit = 1e12;

struct CommProfile {
  KernelFootprint footprint;
  int blocks = 0;
  double startup = 0;       ///< before a block's first byte moves
  double bytes = 0;         ///< that one block sends over the links
  double block_rate = 0;    ///< of one block that has the SM and the links to itself
  double sm_rate = 0;       ///< ceiling of all blocks of one SM together
  double link_rate = 0;     ///< of the device, all blocks together; kNoLimit: nothing leaves the device
  double traffic = 0;       ///< bytes to and from device memory per byte sent
  double memory_share = 0;  ///< of a block's time per byte that stretches with the memory's latency
  double issue_share = 0;   ///< compute blocks that would slow the SM's other blocks as much as one of this kind
  double slowdown = 1;      ///< of the whole collective; 1 until isolated times are given
  bool waits = false;       ///< its blocks wait for those of other devices: they move nothing, and take what they take of an SM

  bool operator==(const CommProfile&) const = default;
};

/// A kernel as it is launched.
struct SimKernel {
  std::variant<ComputeProfile, CommProfile> profile;
  int left_out = 0;                 ///< SMs that it does not run on; communication runs on all
  std::optional<Percent> carveout;  ///< share of an SM's memory that it prefers as shared memory; absent: what its residency needs

  bool operator==(const SimKernel&) const = default;

  [[nodiscard]] bool computes() const { return profile.index() == 0; }
  [[nodiscard]] const ComputeProfile& compute() const { return std::get<0>(profile); }
  [[nodiscard]] const CommProfile& comm() const { return std::get<1>(profile); }
  [[nodiscard]] const KernelFootprint& footprint() const { return computes() ? compute().footprint : comm().footprint; }
  [[nodiscard]] std::int64_t blocks() const { return computes() ? compute().work.blocks() : comm().blocks; }
};

}  // namespace elbowroom::sim
