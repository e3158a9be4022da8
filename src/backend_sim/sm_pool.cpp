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
      lanes_(static_cast<std::size_t>(lanes)),
      ended_(static_cast<std::size_t>(lanes)),
      next_(sms_.size(), kNever),
      group_next_((sms_.size() + kGroup - 1) / kGroup, kNever) {
  for (Sm& sm : sms_) sm.of.resize(lanes_.size());
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
  running = {kernel, waiting, what.computes(), block_spread(machine_, what, capacity_.most(kernel)), 0, nullptr, {}, {}};
  if (what.left_out > 0) running.left_out = &partition(what.left_out);
  if (what.computes() && what.compute().persistent) running.tiles_left = what.compute().work.tiles_x * what.compute().work.tiles_y;
}

double SmPool::next_end() const { return *std::min_element(group_next_.begin(), group_next_.end()); }

void SmPool::bring_up(Sm& sm) {
  const double passed = now_ - sm.since;
  for (Residents& residents : sm.of) residents.progress += passed * residents.rate;
  sm.since = now_;
}

void SmPool::list(int sm) {
  Sm& changed = at(sm);
  if (changed.listed) return;
  changed.listed = true;
  changed_.push_back(sm);
}

void SmPool::count_residents(Sm& sm, int lane, int change) {
  const Running& running = lanes_[static_cast<std::size_t>(lane)];
  sm.of[static_cast<std::size_t>(lane)].count += change;
  (running.computes ? sm.computing : sm.communicating) += change;
  sm.mix = mixes_.with(sm.mix, running.kernel, change);
}

void SmPool::count_waiting(Sm& sm, int lane, int change) {
  sm.communicating += change;
  sm.mix = mixes_.with(sm.mix, lanes_[static_cast<std::size_t>(lane)].waiting, change);
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

const std::vector<std::int64_t>& SmPool::advance(double now) {
  now_ = now;
  const double slack = now * kSameInstant;
  std::ranges::fill(ended_, 0);
  for (std::size_t group = 0; group < group_next_.size(); ++group) {
    if (group_next_[group] > now + slack) continue;
    const std::size_t last = std::min(sms_.size(), (group + 1) * kGroup);
    for (std::size_t sm = group * kGroup; sm < last; ++sm) {
      if (next_[sm] > now + slack) continue;
      bring_up(sms_[sm]);
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        Residents& residents = sms_[sm].of[lane];
        if (residents.count == 0) continue;
        const int ended = remove_ended(lanes_[lane], residents, 2 * slack * residents.rate);
        if (ended > 0) count_residents(sms_[sm], static_cast<int>(lane), -ended);
        if (ended > 0 && lanes_[lane].waiting >= 0) {
          count_waiting(sms_[sm], static_cast<int>(lane), ended);
          lanes_[lane].to_leave.push_back({static_cast<int>(sm), ended, 0});
        }
        // Progress is counted from zero again whenever nothing is resident: it never loses precision.
        if (residents.count == 0) residents.progress = 0;
        ended_[lane] += ended;
      }
      list(static_cast<int>(sm));
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
  count_waiting(at(sm), lane, count);
  running.to_start.push_back({sm, count, work * scatter});
}

void SmPool::work(int lane, int sm, int count, double work) {
  Sm& here = at(sm);
  list(sm);
  bring_up(here);
  Residents& residents = here.of[static_cast<std::size_t>(lane)];
  insert(residents, {residents.progress + work, count});
  count_residents(here, lane, count);
}

void SmPool::start(int lane, std::int64_t count) {
  std::deque<Waiting>& waiting = lanes_[static_cast<std::size_t>(lane)].to_start;
  while (count > 0) {
    Waiting& first = waiting.front();
    const auto some = static_cast<int>(std::min(count, first.count));
    count_waiting(at(first.sm), lane, -some);
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
    count_waiting(at(first.sm), lane, -some);
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

void SmPool::set_rates(int sm) {
  Sm& here = at(sm);
  bring_up(here);
  double next = kNever;
  const Mix& shares = mixes_.mix(here.mix);
  const std::vector<double>& rates = rates_.rates(here.mix);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    Residents& residents = here.of[lane];
    residents.rate = 0;
    if (residents.count == 0) continue;
    const auto share = std::ranges::find(shares, lanes_[lane].kernel, &Share::kernel);
    residents.rate = rates[static_cast<std::size_t>(share - shares.begin())];
    next = std::min(next, now_ + (residents.cohorts.back().end - residents.progress) / residents.rate);
  }
  next_[static_cast<std::size_t>(sm)] = next;
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
    for (int sm = 0; sm < sms(); ++sm) set_rates(sm);
    for (std::size_t group = 0; group < group_next_.size(); ++group) refresh(group);
  } else {
    for (const int sm : changed_) set_rates(sm);
    for (const int sm : changed_) refresh(static_cast<std::size_t>(sm) / kGroup);
  }
  changed_.clear();
}

}  // namespace elbowroom::sim
