#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend_sim/engine.hpp"

namespace elbowroom::sim {

/// The blocks on the SMs and how far they are, by lane. Blocks of a lane on one SM that end together are one cohort. Kept by lane
/// and then by SM, so that new rates of all SMs are set several at a time.
class Residents {
 public:
  Residents(int sms, int lanes);

  [[nodiscard]] bool any(int lane, int sm) const { return first_[at(lane, sm)] != kNever; }

  /// Moves the SM's blocks on to `now`, at the rates of before.
  void bring_up(int sm, double now) {
    double& since = since_[static_cast<std::size_t>(sm)];
    if (since == now) { return; }
    const double passed = now - since;
    since = now;
    for (std::size_t slot = at(0, sm); slot < first_.size(); slot += sms_) { progress_[slot] += passed * rate_[slot]; }
  }

  /// So many blocks with `work` before them, at least one; the SM is brought up.
  void add(int lane, int sm, int count, double work) {
    const std::size_t slot = at(lane, sm);
    insert(slot, {progress_[slot] + work, count});
    on_lane_[static_cast<std::size_t>(lane)] += count;
  }

  /// Removes blocks that have no more before them than they do in `slack`: how many. As many of these as there are `tiles_left`
  /// take another tile instead. The SM is brought up.
  int end(int lane, int sm, double slack, std::int64_t& tiles_left) {
    const std::size_t slot = at(lane, sm);
    const double reached = progress_[slot] + slack * rate_[slot];
    int ended = 0;
    while (first_[slot] <= reached) { ended += end_first(slot, tiles_left); }
    on_lane_[static_cast<std::size_t>(lane)] -= ended;
    // Progress is counted from zero again whenever nothing is resident: it never loses precision.
    if (first_[slot] == kNever) { progress_[slot] = rate_[slot] = 0; }
    return ended;
  }

  /// Moves the SM's blocks on to `now` and sets their rates from there on, by lane. When the next of them ends; kNever: there is
  /// none.
  double set_rates(int sm, double now, const double* rates) {
    bring_up(sm, now);
    double next = kNever;
    for (std::size_t slot = at(0, sm); slot < first_.size(); slot += sms_, ++rates) {
      if (first_[slot] == kNever) { continue; }
      rate_[slot] = *rates;
      next = std::min(next, now + (first_[slot] - progress_[slot]) / *rates);
    }
    return next;
  }

  /// The same for all SMs: `rates_of(sm)` gives the rates by lane, 0 where the lane has no block there, and `next` gets the ends by
  /// SM.
  template <class RatesOf>
  void set_all_rates(double now, RatesOf rates_of, double* next) {
    for (std::size_t sm = 0; sm < sms_; ++sm) {
      const double* const rates = rates_of(sm);
      for (std::size_t lane = 0; lane < on_lane_.size(); ++lane) { fresh_[lane * sms_ + sm] = rates[lane]; }
    }
    std::fill_n(next, sms_, kNever);
    for (std::size_t lane = 0; lane < on_lane_.size(); ++lane) {
      if (on_lane_[lane] > 0) { set_lane(lane, now, next); }
    }
    std::ranges::fill(since_, now);
  }

 private:
  struct Cohort {
    double end = 0;  ///< in the progress of its lane on its SM
    int count = 0;
  };

  [[nodiscard]] std::size_t at(int lane, int sm) const {
    return static_cast<std::size_t>(lane) * sms_ + static_cast<std::size_t>(sm);
  }

  void insert(std::size_t slot, const Cohort& cohort) {
    if (first_[slot] == kNever) {
      first_[slot] = cohort.end;
      first_count_[slot] = cohort.count;
    } else {
      insert_beside(slot, cohort);
    }
  }
  void insert_beside(std::size_t slot, const Cohort& cohort);

  int end_first(std::size_t slot, std::int64_t& tiles_left) {
    const Cohort done{first_[slot], first_count_[slot]};
    std::vector<Cohort>& later = later_[slot];
    if (later.empty()) {
      first_[slot] = kNever;
    } else {
      first_[slot] = later.back().end;
      first_count_[slot] = later.back().count;
      later.pop_back();
    }
    if (tiles_left == 0) { return done.count; }
    const auto staying = static_cast<int>(std::min<std::int64_t>(done.count, tiles_left));
    insert(slot, {done.end + 1, staying});
    tiles_left -= staying;
    return done.count - staying;
  }

  void set_lane(std::size_t lane, double now, double* next);

  std::size_t sms_;
  std::vector<double> since_;          ///< by SM: when progress was last brought up to date
  std::vector<std::int64_t> on_lane_;  ///< blocks of a lane on all SMs

  // By lane and SM. Nothing resident: the first cohort never ends, progress and rate are 0.
  std::vector<double> first_;  ///< end of the cohort that ends first
  std::vector<int> first_count_;
  std::vector<double> progress_;
  std::vector<double> rate_;
  std::vector<std::vector<Cohort>> later_;  ///< the other cohorts, latest end first: mostly none
  std::vector<double> fresh_;               ///< rates to be set
};

}  // namespace elbowroom::sim
