#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backend_sim/engine.hpp"
#include "backend_sim/mix_table.hpp"
#include "backend_sim/residents.hpp"
#include "backend_sim/shared_rates.hpp"

namespace elbowroom::sim {

/// By how much the durations of a computation's blocks vary: the machine's spread, none for a kernel of very many waves or tiles.
/// `most`: of its blocks on an SM.
double block_spread(const Machine& machine, const SimKernel& kernel, int most);

/// More blocks of a kernel that an SM can hold.
struct Room {
  int sm = 0;
  int blocks = 0;
};

/// The SMs with their resident blocks, each progressing at the shared rates. Blocks are told apart by lane: a lane runs one kernel
/// at a time.
class SmPool {
 public:
  /// Blocks that wait on an SM for those of other devices.
  struct Waiting {
    int sm = 0;
    std::int64_t count = 0;
    double work = 0;
  };

  SmPool(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels, int lanes);

  /// When the next block ends if nothing changes; infinity when nothing is resident.
  [[nodiscard]] double next_end() const;
  /// Moves time to `now`, which is not beyond next_end(), and removes what ends there: the number of blocks by lane. Blocks that
  /// work with those of other devices stay until leave().
  const std::vector<std::int64_t>& advance(double now);
  /// The lane's blocks are of this kernel from here on; none of another may be resident. A persistent kernel's blocks take its
  /// tiles one after the other until none is left, and end then. `waiting`: the kernel that the blocks are while they wait for
  /// those of other devices; absent: they wait for none.
  void begin(int lane, int kernel, std::optional<int> waiting);
  /// Starts `count` blocks from number `first` on, of `work` each (tiles, or shares of a collective), on an SM that has room.
  /// Blocks that work with those of other devices wait there for start().
  void place(int lane, int sm, int count, double work, std::int64_t first);
  /// The same for all blocks that each of these SMs has room for; the number of the first block that is not placed.
  std::int64_t fill(int lane, std::span<const Room> rooms, double work, std::int64_t first);
  /// Lets so many of the lane's waiting blocks begin to work, and so many of those that are done leave: first come, first served.
  void start(int lane, std::int64_t count);
  void leave(int lane, std::int64_t count);
  /// The lane's blocks that wait to begin, and those that wait to leave, first come first.
  [[nodiscard]] std::pair<std::vector<Waiting>, std::vector<Waiting>> waiting(int lane) const;
  /// Puts blocks that wait there as waiting() gave them, where the lane has none yet.
  void wait(int lane, const std::vector<Waiting>& to_start, const std::vector<Waiting>& to_leave);
  /// Whether a copy to peers is under way from here on.
  void set_copying(bool copying);
  /// Must follow all changes of an instant: sets rates anew where they changed.
  void settle();

  [[nodiscard]] int sms() const { return static_cast<int>(sms_.size()); }
  [[nodiscard]] int gpcs() const { return gpcs_; }
  [[nodiscard]] int gpc(int sm) const { return sm % gpcs_; }
  /// Blocks of one side.
  [[nodiscard]] int computing(int sm) const { return at(sm).computing; }
  [[nodiscard]] int communicating(int sm) const { return at(sm).communicating; }
  /// What is on the SM.
  [[nodiscard]] const Mix& mix(int sm) const { return mixes_.mix(at(sm).mix); }
  /// More blocks of the lane's kernel that the SM can hold.
  [[nodiscard]] int room(int lane, int sm);
  /// Those of `sms` that can hold any, in their order.
  void find_rooms(int lane, std::span<const int> sms, std::vector<Room>& rooms);
  /// SMs on which something changed since the last settle(), in the order of the changes.
  [[nodiscard]] const std::vector<int>& changed() const { return changed_; }
  [[nodiscard]] SharedRates& rates() { return rates_; }

 private:
  struct Sm {
    int computing = 0;
    int communicating = 0;
    int mix = 0;          ///< what is resident
    int settled = 0;      ///< the mix when rates were last set
    bool listed = false;  ///< in changed_
  };
  struct Running {
    int kernel = 0;
    std::optional<int> waiting;  ///< kernel of blocks that wait; absent: none does
    bool computes = false;
    double spread = 0;
    std::int64_t tiles_left = 0;                  ///< that no persistent block has taken yet
    const std::vector<bool>* left_out = nullptr;  ///< by SM
    std::deque<Waiting> to_start;
    std::deque<Waiting> to_leave;
  };

  [[nodiscard]] const Sm& at(int sm) const { return sms_[static_cast<std::size_t>(sm)]; }
  Sm& at(int sm) { return sms_[static_cast<std::size_t>(sm)]; }
  /// How fast a block of each lane's kernel progresses on an SM with that mix, by lane; 0 where the mix has none of it. Until a
  /// rate is set anew or another mix is asked for.
  const double* lane_rates(int mix);
  void set_lane_rates(int mix);
  void list(int sm);
  void set_all_rates();
  void set_changed_rates();
  /// Finds a group's next end.
  void refresh(std::size_t group);
  void count_residents(int sm, int lane, int change);
  void count_waiting(int sm, int lane, int change);
  void work(int lane, int sm, int count, double work);
  /// Of a block's work, by which it takes longer than others of its kernel.
  [[nodiscard]] static double scatter(const Running& running, std::int64_t block);
  /// Removes what ends on an SM whose time has come.
  void remove_ended(int sm, double slack);
  /// SMs that a partition of so many leaves out.
  const std::vector<bool>& partition(int left_out);

  const Machine& machine_;
  const SmCapacity& capacity_;
  const std::vector<SimKernel>& kernels_;
  int gpcs_;
  double now_ = 0;
  MixTable mixes_;
  SharedRates rates_;
  std::vector<double> lane_rates_;    ///< by mix and lane
  std::vector<std::int64_t> stamps_;  ///< by mix: that of its lane rates
  std::int64_t stamp_ = 0;            ///< counts what makes lane rates stale: new rates, another kernel on a lane
  std::vector<Sm> sms_;
  Residents residents_;
  std::vector<Running> lanes_;
  std::map<int, std::vector<bool>> partitions_;
  std::vector<std::int64_t> ended_;  ///< by lane
  std::vector<double> next_;         ///< by SM, and kNever up to whole groups
  std::vector<double> group_next_;   ///< least of each group of SMs, so that finding the next end does not look at all
  std::vector<int> changed_;
  bool copying_changed_ = false;  ///< since the last settle()
};

}  // namespace elbowroom::sim
