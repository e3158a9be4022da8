#pragma once

#include <cstdint>
#include <vector>

#include "backend_sim/engine.hpp"
#include "backend_sim/shared_rates.hpp"

namespace elbowroom::sim {

/// By how much the durations of such a kernel's blocks vary: the machine's spread, none for a kernel of very many waves or tiles.
double block_spread(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute);

/// The SMs with their resident blocks, each progressing at the shared rates.
class SmPool {
 public:
  SmPool(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute, const CommProfile& comm);

  /// Blocks that ended at an instant, by kind.
  struct Ended {
    std::int64_t compute = 0;
    std::int64_t comm = 0;
  };

  /// When the next block ends if nothing changes; infinity when nothing is resident.
  [[nodiscard]] double next_end() const;
  /// Moves time to `now`, which is not beyond next_end(), and removes what ends there.
  Ended advance(double now);
  /// Starts `count` blocks from number `first` on, of `work` each (tiles, or shares of a collective), on an SM that has room.
  void place(Kind kind, int sm, int count, double work, std::int64_t first);
  /// The tiles of a persistent kernel's launch: each of its blocks takes one after the other until none is left, and ends then. No other
  /// launch of the kind may be under way.
  void offer_tiles(std::int64_t tiles);
  /// Whether a copy to peers is under way from here on.
  void set_copying(bool copying);
  /// Must follow all changes of an instant: sets rates anew where they changed.
  void settle();

  [[nodiscard]] int sms() const { return static_cast<int>(sms_.size()); }
  [[nodiscard]] int gpc(int sm) const { return sm % gpcs_; }
  [[nodiscard]] int resident(Kind kind, int sm) const { return at(sm).of[static_cast<int>(kind)].count; }
  /// More blocks of this kind that the SM can hold.
  [[nodiscard]] int room(Kind kind, int sm) const;
  /// SMs on which something changed since the last settle(), in the order of the changes.
  [[nodiscard]] const std::vector<int>& changed() const { return changed_; }
  [[nodiscard]] const SharedRates& rates() const { return rates_; }

 private:
  struct Cohort {
    double end = 0;  ///< in the progress of its kind on its SM
    int count = 0;
  };
  struct Residents {
    int count = 0;
    double progress = 0;
    double rate = 0;
    std::vector<Cohort> cohorts;  ///< latest end first
  };
  struct Sm {
    Residents of[2];
    double since = 0;     ///< when progress was last brought up to date
    int settled[2]{};     ///< residents by kind when rates were last set
    bool listed = false;  ///< in changed_
    bool for_comm_alone = false;
  };

  [[nodiscard]] const Sm& at(int sm) const { return sms_[static_cast<std::size_t>(sm)]; }
  Sm& at(int sm) { return sms_[static_cast<std::size_t>(sm)]; }
  void bring_up(Sm& sm);
  void list(int sm);
  void set_rates(int sm);
  static void insert(Residents& residents, const Cohort& cohort);
  /// Removes compute or communication blocks that are done; those that take another tile stay.
  int remove_ended(Kind kind, Residents& residents, double end_slack);

  const SmCapacity& capacity_;
  int gpcs_;
  double now_ = 0;
  double spread_;
  std::int64_t tiles_left_ = 0;  ///< that no persistent block has taken yet
  SharedRates rates_;
  std::vector<Sm> sms_;
  std::vector<double> next_;        ///< by SM
  std::vector<double> group_next_;  ///< least of each group of SMs, so that finding the next end does not look at all
  std::vector<int> changed_;
  bool copying_changed_ = false;  ///< since the last settle()
};

}  // namespace elbowroom::sim
