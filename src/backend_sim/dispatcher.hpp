#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend_sim/engine.hpp"
#include "backend_sim/sm_pool.hpp"

namespace elbowroom::sim {

/// Hands blocks to SMs, head of line. The task of the greatest priority, of equal ones the one added first, places all its blocks
/// before any other places one. At most one of each lane is known at a time.
class Dispatcher {
 public:
  Dispatcher(SmPool& pool, const std::vector<SimKernel>& kernels, int lanes);

  /// A task that is ready and no copy; begins its kernel on its lane.
  void add(std::size_t task, const Task& what);

  /// Places what has room now; the tasks that got a block placed, each once.
  const std::vector<std::size_t>& place_blocks();
  /// Whether that task still has blocks to place.
  [[nodiscard]] bool pending(std::size_t task) const;

  /// Blocks that the lane's task has placed.
  [[nodiscard]] std::int64_t placed(int lane) const;

  /// The lane's task, which has just been added, had so many blocks placed and ended before.
  void restore(int lane, std::int64_t placed, std::int64_t ended);

  /// Counts ended blocks of a lane; the task whose last block that was, if so.
  std::optional<std::size_t> end_blocks(int lane, std::int64_t count);

 private:
  struct Active {
    std::size_t task = 0;
    int lane = 0;
    const SimKernel* kernel = nullptr;
    bool urgent = false;
    std::uint64_t order = 0;
    std::int64_t next = 0;  ///< first block that is not placed yet
    std::int64_t blocks = 0;
    std::int64_t ended = 0;
  };

  [[nodiscard]] Active* head();
  /// The SMs worth looking at: all, or those that changed when all others are known to have no room for the head.
  void find_rooms(const Active& active);
  /// In tiles, with what it does before and after them; a persistent block takes its tiles later.
  [[nodiscard]] static double work_of(const ComputeProfile& compute, std::int64_t block);
  void place_compute(Active& active);
  void place_evenly(Active& active);
  void place_comm(Active& active);
  bool place_cluster(Active& active, int cluster);
  /// Of the GPCs with that many open SMs the one with the least communication; absent: none has them.
  [[nodiscard]] std::optional<int> emptiest_gpc(std::size_t least_open) const;

  SmPool& pool_;
  const std::vector<SimKernel>& kernels_;
  std::vector<std::optional<Active>> active_;  ///< by lane
  std::uint64_t added_ = 0;
  std::optional<std::size_t> full_for_;  ///< task for which no SM had room at the last instant
  std::vector<int> all_;
  std::vector<Room> rooms_;  ///< SMs with room
  std::vector<int> open_;    ///< the same, or some of them, in another order
  std::vector<std::size_t> placed_;
};

}  // namespace elbowroom::sim
