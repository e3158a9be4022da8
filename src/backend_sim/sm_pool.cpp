#include "backend_sim/sm_pool.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "backend_sim/splitmix.hpp"

namespace elbowroom::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kGroup = 16;
// Ends that differ by rounding alone are one instant.
constexpr double kSameInstant = 1e-9;
// A kernel of more waves has no spread: over so many blocks it averages out, and blocks that stay in step cost less to simulate. So do a
// persistent kernel's tiles, of which there may be very many; a spread of theirs predicted nothing better.
constexpr std::int64_t kWavesWithSpread = 64;

/// A value in [-1, 1) that looks random and depends on `n` alone.
double scattered(std::uint64_t n) { return 2 * mixed_fraction(n) - 1.0; }

}  // namespace

double block_spread(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute) {
  if (compute.persistent) return 0;
  const std::int64_t at_once = std::int64_t{machine.sms - machine.comm_sms} * capacity.most_compute();
  return compute.work.blocks() > kWavesWithSpread * at_once ? 0 : machine.block_spread;
}

SmPool::SmPool(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute, const CommProfile& comm)
    : capacity_(capacity),
      gpcs_(machine.gpcs),
      spread_(block_spread(machine, capacity, compute)),
      rates_(machine, capacity, compute, comm),
      sms_(static_cast<std::size_t>(machine.sms)),
      next_(sms_.size(), kNever),
      group_next_((sms_.size() + kGroup - 1) / kGroup, kNever) {
  rates_.add(0, 0, machine.sms);
  // Eight of a GPC at a time, as drivers part SMs, so that clusters find room in them.
  constexpr int together = 8;
  int left = machine.comm_sms;
  for (int first = 0; first < machine.sms; first += together * gpcs_) {
    for (int gpc = 0; gpc < gpcs_; ++gpc) {
      const int end = std::min(first + together * gpcs_, machine.sms);
      for (int sm = first + gpc; sm < end && left > 0; sm += gpcs_, --left) at(sm).for_comm_alone = true;
    }
  }
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

int SmPool::remove_ended(Kind kind, Residents& residents, double end_slack) {
  int ended = 0;
  while (!residents.cohorts.empty() && residents.cohorts.back().end <= residents.progress + end_slack) {
    const Cohort done = residents.cohorts.back();
    residents.cohorts.pop_back();
    int leaving = done.count;
    for (; kind == Kind::compute && leaving > 0 && tiles_left_ > 0; --leaving) {
      insert(residents, {done.end + 1, 1});
      --tiles_left_;
    }
    ended += leaving;
  }
  residents.count -= ended;
  // Progress is counted from zero again whenever nothing is resident: it never loses precision.
  if (residents.count == 0) residents.progress = 0;
  return ended;
}

SmPool::Ended SmPool::advance(double now) {
  now_ = now;
  const double slack = now * kSameInstant;
  Ended ended;
  for (std::size_t group = 0; group < group_next_.size(); ++group) {
    if (group_next_[group] > now + slack) continue;
    const std::size_t last = std::min(sms_.size(), (group + 1) * kGroup);
    for (std::size_t sm = group * kGroup; sm < last; ++sm) {
      if (next_[sm] > now + slack) continue;
      bring_up(sms_[sm]);
      Residents* of = sms_[sm].of;
      ended.compute += remove_ended(Kind::compute, of[0], 2 * slack * of[0].rate);
      ended.comm += remove_ended(Kind::comm, of[1], 2 * slack * of[1].rate);
      list(static_cast<int>(sm));
    }
  }
  return ended;
}

int SmPool::room(Kind kind, int sm) const {
  const int compute = resident(Kind::compute, sm);
  const int comm = resident(Kind::comm, sm);
  if (kind == Kind::compute) return at(sm).for_comm_alone ? 0 : capacity_.compute_beside(comm) - compute;
  int room = 0;
  while (capacity_.fits(compute, comm + room + 1)) ++room;
  return room;
}

void SmPool::place(Kind kind, int sm, int count, double work, std::int64_t first) {
  Sm& here = at(sm);
  list(sm);
  bring_up(here);
  Residents& residents = here.of[static_cast<int>(kind)];
  const double scatter = kind == Kind::compute && spread_ > 0 ? 1.0 + spread_ * scattered(static_cast<std::uint64_t>(first)) : 1.0;
  insert(residents, {residents.progress + work * scatter, count});
  residents.count += count;
}

void SmPool::offer_tiles(std::int64_t tiles) { tiles_left_ = tiles; }

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
  const int compute = here.of[0].count;
  const int comm = here.of[1].count;
  here.of[0].rate = compute > 0 ? rates_.tile_rate(compute, comm) : 0;
  here.of[1].rate = comm > 0 ? rates_.comm_rate(compute, comm) : 0;
  double next = kNever;
  for (const Residents& residents : here.of) {
    if (residents.count > 0) next = std::min(next, now_ + (residents.cohorts.back().end - residents.progress) / residents.rate);
  }
  next_[static_cast<std::size_t>(sm)] = next;
}

void SmPool::settle() {
  bool mixes_changed = std::exchange(copying_changed_, false);
  for (const int sm : changed_) {
    Sm& here = at(sm);
    here.listed = false;
    if (here.settled[0] == here.of[0].count && here.settled[1] == here.of[1].count) continue;
    mixes_changed = true;
    rates_.add(here.settled[0], here.settled[1], -1);
    rates_.add(here.of[0].count, here.of[1].count, 1);
    here.settled[0] = here.of[0].count;
    here.settled[1] = here.of[1].count;
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
