#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "elbowroom/model/device_facts.hpp"
#include "explain/rank_view.hpp"

namespace elbowroom::explain {

/// True for a ring of NCCL's on ordinary memory whose operation has kernels on symmetric memory.
bool has_symmetric_kernel(const Trace& trace, const Collective& collective);

/// NCCL's rings in a trace with another number of blocks, by the simulator's fitted speeds of the device. NCCL names its kernels
/// for rings whatever they run: trees are taken for rings.
class BlockBudget {
 public:
  explicit BlockBudget(const RankView& view);

  /// Why nothing can be said; empty where something can.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// The most that a ring has, which is the library's own choice.
  [[nodiscard]] std::int64_t greatest() const { return greatest_; }
  /// How long a transfer of `time` lasts when the library gives a ring at most `blocks`, or at least where that is more than
  /// greatest(). A ring that has fewer by its size keeps them, and so does what is no ring.
  [[nodiscard]] Time transfer(std::size_t row, Time time, std::int64_t blocks) const;
  /// The rate of a ring of `blocks`, of that of greatest().
  [[nodiscard]] double rate_ratio(std::int64_t blocks) const;

 private:
  [[nodiscard]] double rate(std::int64_t blocks) const;
  /// Absent: it is no ring, or the trace does not have its grid.
  [[nodiscard]] std::optional<std::int64_t> ring_blocks(std::size_t row) const;

  const Trace& trace_;
  std::optional<SimulatedSpeeds> speeds_;
  std::int64_t greatest_ = 0;
  std::int64_t threads_ = 0;
  std::string refusal_;
};

}  // namespace elbowroom::explain
