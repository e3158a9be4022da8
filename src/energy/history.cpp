#include "elbowroom/energy/history.hpp"

#include <algorithm>
#include <functional>

namespace elbowroom {
namespace {

/// The greater of both by `better`, or the one that is there.
template <class Better>
std::optional<int> of_both(std::optional<int> one, std::optional<int> other, Better better) {
  if (!one || !other) { return one ? one : other; }
  return better(*one, *other) ? one : other;
}

void join(GpuConditions& all, const GpuConditions& more) {
  all.begin = std::min(all.begin, more.begin);
  all.end = std::max(all.end, more.end);
  all.celsius = of_both(all.celsius, more.celsius, std::greater());
  all.least_sm_mhz = of_both(all.least_sm_mhz, more.least_sm_mhz, std::less());
  all.greatest_sm_mhz = of_both(all.greatest_sm_mhz, more.greatest_sm_mhz, std::greater());
  all.processes = std::max(all.processes, more.processes);
  for (const std::string& reason : more.below_greatest_clock) {
    if (std::ranges::find(all.below_greatest_clock, reason) == all.below_greatest_clock.end()) {
      all.below_greatest_clock.push_back(reason);
    }
  }
}

/// Every second element, the first included.
void halve(Samples& samples) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < samples.size(); at += 2) { samples[kept++] = samples[at]; }
  samples.resize(kept);
}

void join_pairs(std::vector<GpuConditions>& conditions) {
  std::vector<GpuConditions> joined;
  for (std::size_t at = 0; at < conditions.size(); ++at) {
    if (at % 2 == 0) {
      joined.push_back(conditions[at]);
    } else {
      join(joined.back(), conditions[at]);
    }
  }
  conditions = std::move(joined);
}

}  // namespace

void EnergyHistory::add(const CounterReading& reading) {
  if (last_ && last_->energy == reading.energy) { return; }
  last_ = reading;
  if (first_.size() < kFirstMoves) { first_.push_back(reading); }
  if (moved_++ % stride_ != 0) { return; }
  spread_.push_back(reading);
  if (spread_.size() < kMostMoves) { return; }
  halve(spread_);
  stride_ *= 2;
}

void EnergyHistory::add(Microseconds at, const GpuState& state) {
  conditions_.push_back({at, at, state.celsius, state.sm_mhz, state.sm_mhz, state.below_greatest_clock, state.processes});
  if (conditions_.size() == kMostConditions) { join_pairs(conditions_); }
}

Samples EnergyHistory::moves() const {
  Samples all = spread_;
  if (last_ && last_->at > all.back().at) { all.push_back(*last_); }
  return all;
}

GpuConditions EnergyHistory::conditions(Microseconds begin, Microseconds end) const {
  GpuConditions all{begin, end, {}, {}, {}, {}, 0};
  for (const GpuConditions& one : conditions_) {
    if (one.begin <= end && one.end >= begin) { join(all, one); }
  }
  all.begin = begin;
  all.end = end;
  return all;
}

}  // namespace elbowroom
