#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "explain/block_budget.hpp"
#include "explain/rank_view.hpp"

namespace elbowroom::explain {

/// What is other than in the trace. Without a change the step is replayed as it ran.
struct Conditions {
  bool communication_first = false;  ///< collectives begin before computation that was launched later
  bool gate = false;                 ///< the same, and that computation waits until they have begun
  bool own_streams = false;          ///< collectives do not queue behind one another
  bool undisturbed = false;          ///< kernels beside communication last as long as alone
  bool symmetric = false;            ///< those beside rings that NCCL has a kernel on symmetric memory for
  bool peers_on_time = false;        ///< no collective waits for a rank that comes late
  bool host_ahead = false;           ///< everything was launched before
  double transfer = 1;               ///< of the time of collectives that is no waiting
  /// Kernels last as long as their class does beside communication, for as long as some runs in the replay, and not as measured:
  /// what a change of the transfers is compared with, and is one of.
  bool by_class = false;
  std::int64_t comm_blocks = 0;  ///< of rings; 0: as they are. Needs by_class
};

/// A rank's rows as they follow from each other: each begins when its stream is free, the host has launched it, and what it waits
/// for is done. Recorded waits say so; otherwise a begin right behind another row's end does. Idle time that none of these explains
/// is missing in a replayed step, so that its length shows what the model does not know.
class Replay {
 public:
  /// The view outlives this.
  explicit Replay(const RankView& view);

  [[nodiscard]] Time length(Interval step, const Conditions& conditions) const;
  [[nodiscard]] const BlockBudget& budget() const { return budget_; }

 private:
  using Edge = std::pair<std::uint32_t, std::uint32_t>;  ///< a row and one that it waits for

  /// A call in which the host waited until a row was done.
  struct HostWait {
    Time end = 0;
    std::uint32_t row = 0;
  };

  class Pass;

  /// What communication makes of a row.
  struct RowPace {
    double alone = 1;               ///< its duration alone, of the measured one
    double more = 0;                ///< its class takes so much longer beside communication, of the time alone
    bool by_traffic = true;         ///< it is disturbed by bytes, and not by SMs that are taken
    bool beside_symmetric = false;  ///< what it runs beside could be on symmetric memory
  };

  void add_recorded_waits();
  void add_seen_waits();
  void add_collectives();
  void add_host_waits();
  void measure_lags();
  void measure_paces();
  [[nodiscard]] bool can_wait(std::size_t row, std::uint32_t producer) const;
  /// Whether it began right behind the row before it on its stream, or its launch.
  [[nodiscard]] bool explained(std::size_t row) const;
  /// The row that began before `before` and ended last up to `at`; kNone where none ended within the dispatch time.
  [[nodiscard]] std::uint32_t ended_at(Time at, Time from) const;

  const RankView& view_;
  std::vector<std::pair<Time, std::uint32_t>> by_end_;
  std::vector<Edge> edges_;  ///< by row
  std::vector<HostWait> host_waits_;
  std::vector<std::uint32_t> collective_;  ///< of each row, or kNone
  std::vector<Time> lost_race_;            ///< of each collective
  std::vector<bool> overtakes_;            ///< of each row: a collective waited for SMs while it ran
  std::vector<RowPace> pace_;
  BlockBudget budget_;
  Time gap_ = 0;        ///< between rows of one stream
  Time latency_ = 0;    ///< from a launch to its row
  Time hand_over_ = 0;  ///< from a row's end to one of another stream that waits for it
};

}  // namespace elbowroom::explain
