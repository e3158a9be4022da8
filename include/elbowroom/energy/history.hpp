#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/energy/joules.hpp"

namespace elbowroom {

/// How a GPU stood over some time. What the device never said is absent.
struct GpuConditions {
  Microseconds begin{0};
  Microseconds end{0};
  std::optional<int> celsius;  ///< the greatest
  std::optional<int> least_sm_mhz, greatest_sm_mhz;
  std::vector<std::string> below_greatest_clock;  ///< the driver's reasons, each once
  int processes = 0;                              ///< with work on this GPU, the most at a time
};

/// What one GPU's counter said over a run of any length, in bounded memory. The longer the run, the farther apart are the moves
/// that are kept.
class EnergyHistory {
 public:
  static constexpr std::size_t kFirstMoves = 1024;
  static constexpr std::size_t kMostMoves = 8192;
  static constexpr std::size_t kMostConditions = 1024;

  /// Readings come by time.
  ELBOWROOM_API void add(const CounterReading& reading);
  ELBOWROOM_API void add(Microseconds at, const GpuState& state);

  /// Readings at which the counter had moved, with the first one: each of the first kFirstMoves.
  [[nodiscard]] const Samples& first_moves() const { return first_; }
  /// Of the whole time, at equal numbers of moves from each other, with the last one. At most kMostMoves.
  [[nodiscard]] ELBOWROOM_API Samples moves() const;
  /// When the counter last moved; absent: nothing was read.
  [[nodiscard]] std::optional<Microseconds> last_move() const { return last_ ? std::optional(last_->at) : std::nullopt; }
  /// Of the whole time from `begin` to `end`, as far as states are kept apart: neighbours are put together in long runs.
  [[nodiscard]] ELBOWROOM_API GpuConditions conditions(Microseconds begin, Microseconds end) const;

 private:
  Samples first_;
  Samples spread_;
  std::optional<CounterReading> last_;
  std::int64_t moved_ = 0;
  std::int64_t stride_ = 1;
  std::vector<GpuConditions> conditions_;
};

}  // namespace elbowroom
