#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend_sim/engine.hpp"
#include "backend_sim/sm_pool.hpp"

namespace elbowroom::sim {

/// Hands blocks to SMs, head of line: the launch of the greatest priority, then the one that was added first, places all its blocks
/// before any other places one. At most one launch of each kind is known at a time.
class Dispatcher {
 public:
  Dispatcher(SmPool& pool, const ComputeProfile& compute, const CommProfile& comm);

  void add(std::size_t launch, const Launch& what);

  /// Places what has room now; the launches that got a block placed, each once.
  const std::vector<std::size_t>& place_blocks();
  /// Whether that launch still has blocks to place.
  [[nodiscard]] bool pending(std::size_t launch) const;

  /// Counts ended blocks; the launch whose last block that was, if so.
  std::optional<std::size_t> end_blocks(Kind kind, std::int64_t count);

 private:
  struct Active {
    std::size_t launch = 0;
    Kind kind = Kind::compute;
    bool urgent = false;
    std::uint64_t order = 0;
    std::int64_t next = 0;  ///< first block that is not placed yet
    std::int64_t blocks = 0;
    std::int64_t ended = 0;
  };

  [[nodiscard]] Active* head();
  /// The SMs worth looking at: all, or those that changed when all others are known to have no room for the head.
  const std::vector<int>& candidates(const Active& active);
  /// In tiles, with what it does before and after them; a persistent block takes its tiles later.
  [[nodiscard]] double work_of(std::int64_t block) const;
  void place_compute(Active& active);
  void place_evenly(Active& active, std::vector<int>& open);
  void place_comm(Active& active);
  bool place_cluster(Active& active);
  /// Of the GPCs with that many open SMs the one with the least communication; -1: none.
  [[nodiscard]] int emptiest_gpc(std::size_t least_open) const;

  SmPool& pool_;
  const ComputeProfile& compute_;
  const CommProfile& comm_;
  double overhead_tiles_;
  std::array<std::optional<Active>, 2> active_;
  std::uint64_t added_ = 0;
  std::optional<std::size_t> full_for_;  ///< launch for which no SM had room at the last instant
  std::vector<int> all_;
  std::vector<int> open_;
  std::vector<std::size_t> placed_;
};

}  // namespace elbowroom::sim
