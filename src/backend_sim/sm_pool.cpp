#include "backend_sim/sm_pool.hpp"

#include <algorithm>
#include <utility>

#include "backend_sim/splitmix.hpp"

namespace elbowroom::sim {
namespace {

constexpr std::size_t kGroup = 16;
// Ends that differ by rounding alone are one instant.
constexpr double kSameInstant = 1e-9;
// A kernel of more waves has no spread: over so many blocks it averages out, and blocks that stay in step cost less to simulate. So
// do a persistent kernel's tiles, of which there may be very many; a spread of theirs predicted nothing better.
constexpr std::int64_t kWavesWithSpread = 64;

/// A value in [-1, 1) that looks random and depends on `n` alone.
double scattered(std::uint64_t n) { return 2 * mixed_fraction(n) - 1.0; }

}  // namespace

double block_spread(const Machine& machine, const SimKernel& kernel, int most) {
  if (!kernel.computes() || kernel.compute().persistent) return 0;
  const std::int64_t at_once = std::int64_t{machine.sms - kernel.left_out} * most;
  return kernel.blocks() > kWavesWithSpread * at_once ? 0 : machine.block_spread;
}

SmPool::SmPool(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels, int lanes)
    : machine_(machine),
      capacity_(capacity),
      kernels_(kernels),
      gpcs_(machine.gpcs),
      mixes_(capacity),
      rates_(machine, kernels, mixes_),
      sms_(static_cast<std::size_t>(machine.sms)),
      residents_(sms_.size() * static_cast<std::size_t>(lanes)),
      lanes_(static_cast<std::size_t>(lanes)),
      ended_(static_cast<std::size_t>(lanes)),
      next_(sms_.size(), kNever),
      group_next_((sms_.size() + kGroup - 1) / kGroup, kNever) {
  rates_.add(0, machine.sms);
}

const std::vector<bool>& SmPool::partition(int left_out) {
  const auto [found, added] = partitions_.try_emplace(left_out, sms_.size(), false);
  if (!added) return found->second;
  // Eight of a GPC at a time, as drivers part SMs, so that clusters find room in them.
  constexpr int together = 8;
  int left = left_out;
  for (int first = 0; first < sms(); first += together * gpcs_) {
    for (int gpc = 0; gpc < gpcs_; ++gpc) {
      const int end = std::min(first + together * gpcs_, sms());
      for (int sm = first + gpc; sm < end && left > 0; sm += gpcs_, --left) found->second[static_cast<std::size_t>(sm)] = true;
    }
  }
  return found->second;
}

void SmPool::begin(int lane, int kernel, int waiting) {
  const SimKernel& what = kernels_[static_cast<std::size_t>(kernel)];
  Running& running = lanes_[static_cast<std::size_t>(lane)];
  ++stamp_;
  running = {kernel, waiting, what.computes(), block_spread(machine_, what, capacity_.most(kernel)), 0, nullptr, {}, {}};
  if (what.left_out > 0) running.left_out = &partition(what.left_out);
  if (what.computes() && what.compute().persistent) running.tiles_left = what.compute().work.tiles_x * what.compute().work.tiles_y;
}

double SmPool::next_end() const { return *std::min_element(group_next_.begin(), group_next_.end()); }

inline std::span<SmPool::Residents> SmPool::bring_up(int sm) {
  const std::span<Residents> of(residents_.data() + static_cast<std::size_t>(sm) * lanes_.size(), lanes_.size());
  const double passed = now_ - at(sm).since;
  at(sm).since = now_;
  for (Residents& residents : of) residents.progress += passed * residents.rate;
  return of;
}

void SmPool::list(int sm) {
  Sm& changed = at(sm);
  if (changed.listed) return;
  changed.listed = true;
  changed_.push_back(sm);
}

void SmPool::count_residents(int sm, int lane, int change) {
  const Running& running = lanes_[static_cast<std::size_t>(lane)];
  Sm& here = at(sm);
  (running.computes ? here.computing : here.communicating) += change;
  here.mix = mixes_.with(here.mix, running.kernel, change);
}

void SmPool::count_waiting(int sm, int lane, int change) {
  Sm& here = at(sm);
  here.communicating += change;
  here.mix = mixes_.with(here.mix, lanes_[static_cast<std::size_t>(lane)].waiting, change);
}

int SmPool::remove_ended(Running& running, Residents& residents, double end_slack) {
  int ended = 0;
  while (!residents.cohorts.empty() && residents.cohorts.back().end <= residents.progress + end_slack) {
    const Cohort done = residents.cohorts.back();
    residents.cohorts.pop_back();
    int leaving = done.count;
    for (; leaving > 0 && running.tiles_left > 0; --leaving) {
      insert(residents, {done.end + 1, 1});
      --running.tiles_left;
    }
    ended += leaving;
  }
  return ended;
}

void SmPool::remove_ended(int sm, double slack) {
  const std::span<Residents> of = bring_up(sm);
  for (std::size_t at = 0; at < of.size(); ++at) {
    Residents& residents = of[at];
    if (residents.count == 0) continue;
    const int lane = static_cast<int>(at);
    const int ended = remove_ended(lanes_[at], residents, 2 * slack * residents.rate);
    residents.count -= ended;
    if (ended > 0) count_residents(sm, lane, -ended);
    if (ended > 0 && lanes_[at].waiting >= 0) {
      count_waiting(sm, lane, ended);
      lanes_[at].to_leave.push_back({sm, ended, 0});
    }
    // Progress is counted from zero again whenever nothing is resident: it never loses precision.
    if (residents.count == 0) residents.progress = residents.rate = 0;
    ended_[at] += ended;
  }
  list(sm);
}

const std::vector<std::int64_t>& SmPool::advance(double now) {
  now_ = now;
  const double slack = now * kSameInstant;
  std::ranges::fill(ended_, 0);
  for (std::size_t group = 0; group < group_next_.size(); ++group) {
    if (group_next_[group] > now + slack) continue;
    const std::size_t last = std::min(sms_.size(), (group + 1) * kGroup);
    for (std::size_t at = group * kGroup; at < last; ++at) {
      if (next_[at] <= now + slack) remove_ended(static_cast<int>(at), slack);
    }
  }
  return ended_;
}

int SmPool::room(int lane, int sm) {
  const Running& running = lanes_[static_cast<std::size_t>(lane)];
  if (running.left_out != nullptr && (*running.left_out)[static_cast<std::size_t>(sm)]) return 0;
  return mixes_.room(at(sm).mix, running.waiting >= 0 ? running.waiting : running.kernel);
}

void SmPool::place(int lane, int sm, int count, double work, std::int64_t first) {
  Running& running = lanes_[static_cast<std::size_t>(lane)];
  const double scatter = running.spread > 0 ? 1.0 + running.spread * scattered(static_cast<std::uint64_t>(first)) : 1.0;
  if (running.waiting < 0) return this->work(lane, sm, count, work * scatter);
  list(sm);
  count_waiting(sm, lane, count);
  running.to_start.push_back({sm, count, work * scatter});
}

void SmPool::work(int lane, int sm, int count, double work) {
  list(sm);
  Residents& residents = bring_up(sm)[static_cast<std::size_t>(lane)];
  insert(residents, {residents.progress + work, count});
  residents.count += count;
  count_residents(sm, lane, count);
}

void SmPool::start(int lane, std::int64_t count) {
  std::deque<Waiting>& waiting = lanes_[static_cast<std::size_t>(lane)].to_start;
  while (count > 0) {
    Waiting& first = waiting.front();
    const auto some = static_cast<int>(std::min(count, first.count));
    count_waiting(first.sm, lane, -some);
    work(lane, first.sm, some, first.work);
    count -= some;
    if ((first.count -= some) == 0) waiting.pop_front();
  }
}

void SmPool::leave(int lane, std::int64_t count) {
  std::deque<Waiting>& waiting = lanes_[static_cast<std::size_t>(lane)].to_leave;
  while (count > 0) {
    Waiting& first = waiting.front();
    const auto some = static_cast<int>(std::min(count, first.count));
    list(first.sm);
    count_waiting(first.sm, lane, -some);
    count -= some;
    if ((first.count -= some) == 0) waiting.pop_front();
  }
}

void SmPool::insert(Residents& residents, const Cohort& cohort) {
  const auto later = std::lower_bound(residents.cohorts.begin(), residents.cohorts.end(), cohort.end,
                                      [](const Cohort& one, double end) { return one.end > end; });
  if (later != residents.cohorts.end() && later->end == cohort.end) {
    later->count += cohort.count;
  } else {
    residents.cohorts.insert(later, cohort);
  }
}

void SmPool::set_copying(bool copying) {
  rates_.set_copying(copying);
  copying_changed_ = true;
}

inline const double* SmPool::lane_rates(int mix) {
  const auto at = static_cast<std::size_t>(mix);
  const bool known = at < lane_rates_.size() && lane_rates_[at].stamp == stamp_;
  return known ? lane_rates_[at].rates.data() : new_lane_rates(mix);
}

const double* SmPool::new_lane_rates(int mix) {
  if (lane_rates_.size() < mixes_.size()) lane_rates_.resize(mixes_.size());
  LaneRates& made = lane_rates_[static_cast<std::size_t>(mix)];
  const Mix& shares = mixes_.mix(mix);
  const std::vector<double>& rates = rates_.rates(mix);
  made.rates.assign(lanes_.size(), 0);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const auto share = std::ranges::find(shares, lanes_[lane].kernel, &Share::kernel);
    if (share != shares.end()) made.rates[lane] = rates[static_cast<std::size_t>(share - shares.begin())];
  }
  made.stamp = stamp_;
  return made.rates.data();
}

inline void SmPool::set_rates(int sm, const double* rates) {
  Sm& here = at(sm);
  const double passed = now_ - here.since;
  here.since = now_;
  double next = kNever;
  Residents* const of = residents_.data() + static_cast<std::size_t>(sm) * lanes_.size();
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    Residents& residents = of[lane];
    if (residents.count == 0) continue;
    residents.progress += passed * residents.rate;
    residents.rate = rates[lane];
    next = std::min(next, now_ + (residents.cohorts.back().end - residents.progress) / residents.rate);
  }
  next_[static_cast<std::size_t>(sm)] = next;
}

void SmPool::set_all_rates() {
  int mix = -1;
  const double* rates = nullptr;
  for (int sm = 0; sm < sms(); ++sm) {
    // Neighbours mostly hold the same.
    if (at(sm).mix != mix) {
      mix = at(sm).mix;
      rates = lane_rates(mix);
    }
    set_rates(sm, rates);
  }
}

void SmPool::settle() {
  bool mixes_changed = std::exchange(copying_changed_, false);
  for (const int sm : changed_) {
    Sm& here = at(sm);
    here.listed = false;
    if (here.settled == here.mix) continue;
    mixes_changed = true;
    rates_.add(here.settled, -1);
    rates_.add(here.mix, 1);
    here.settled = here.mix;
  }
  const auto refresh = [this](std::size_t group) {
    const std::size_t last = std::min(next_.size(), (group + 1) * kGroup);
    group_next_[group] = *std::min_element(next_.begin() + static_cast<std::ptrdiff_t>(group * kGroup),
                                           next_.begin() + static_cast<std::ptrdiff_t>(last));
  };
  if (mixes_changed && rates_.update()) {
    ++stamp_;
    set_all_rates();
    for (std::size_t group = 0; group < group_next_.size(); ++group) refresh(group);
  } else {
    for (const int sm : changed_) set_rates(sm, lane_rates(at(sm).mix));
    for (const int sm : changed_) refresh(static_cast<std::size_t>(sm) / kGroup);
  }
  changed_.clear();
}

}  // namespace elbowroom::sim
