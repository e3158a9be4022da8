#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend_sim/dispatcher.hpp"
#include "backend_sim/sm_pool.hpp"

namespace elbowroom::sim {

/// Blocks that a lane's task ended at an instant. Those that work with other devices are counted as they end; of other tasks only
/// the end of the last block is told.
struct EndedBlocks {
  int lane = 0;
  std::int64_t blocks = 0;
  bool operator==(const EndedBlocks&) const = default;
};

/// How many blocks of a lane's task have been placed in all. Told when the first and the last are, of tasks that work with other
/// devices at each change.
struct PlacedBlocks {
  int lane = 0;
  std::int64_t blocks = 0;
  bool all = false;
  bool operator==(const PlacedBlocks&) const = default;
};

/// What the SMs hold while no block of theirs works: tasks that find no room, and blocks that wait for other devices.
struct QuietSms {
  struct Lane {
    int lane = 0;
    int kernel = 0;
    std::optional<int> waiting;
    bool urgent = false;
    std::int64_t placed = 0;
    std::int64_t ended = 0;
    std::vector<SmPool::Waiting> to_start;
    std::vector<SmPool::Waiting> to_leave;
  };
  std::vector<Lane> lanes;  ///< in the order in which their tasks were added
  bool copying = false;

  /// The same for equal contents.
  [[nodiscard]] std::string key() const;
};

/// The SMs of a device and what places blocks on them, told by lane. Times count from any instant.
class LiveSms {
 public:
  LiveSms(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels, int lanes);

  [[nodiscard]] double next_end() const { return pool_->next_end(); }
  /// Moves time on and ends what ends there.
  std::vector<EndedBlocks> advance(double now);
  /// A task becomes ready. `waiting`: the kernel of its blocks while they wait for other devices; absent: they never do.
  void begin(int lane, int kernel, std::optional<int> waiting, bool urgent);
  void start(int lane, std::int64_t count) { pool_->start(lane, count); }
  void leave(int lane, std::int64_t count);
  void set_copying(bool copying);
  std::vector<PlacedBlocks> place();
  void settle() { pool_->settle(); }

  /// Runs what happens before `until`. What shows of it is added.
  void run_to(double until, std::vector<EndedBlocks>& ended, std::vector<PlacedBlocks>& placed);

  /// No block works: nothing happens by itself.
  [[nodiscard]] QuietSms quiet() const;
  /// As they were then.
  void restore(const QuietSms& state);

 private:
  struct Running {
    int kernel = 0;
    std::optional<int> waiting;
    bool urgent = false;
    std::int64_t placed = 0;
    std::int64_t ended = 0;
    std::uint64_t order = 0;
  };

  void clear();

  const Machine& machine_;
  const SmCapacity& capacity_;
  const std::vector<SimKernel>& kernels_;
  std::size_t lane_count_;
  std::optional<SmPool> pool_;
  std::optional<Dispatcher> dispatcher_;
  std::vector<std::optional<Running>> running_;  ///< by lane
  std::uint64_t begun_ = 0;
  bool copying_ = false;
};

}  // namespace elbowroom::sim
