#include "backend_sim/sm_pool.hpp"

#include <algorithm>
#include <array>
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
  if (!kernel.computes() || kernel.compute().persistent) { return 0; }
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
      residents_(machine.sms, lanes),
      lanes_(static_cast<std::size_t>(lanes)),
      ended_(static_cast<std::size_t>(lanes)),
      group_next_((sms_.size() + kGroup - 1) / kGroup, kNever) {
  next_.resize(group_next_.size() * kGroup, kNever);
  rates_.add(0, machine.sms);
}

const std::vector<bool>& SmPool::partition(int left_out) {
  const auto [found, added] = partitions_.try_emplace(left_out, sms_.size(), false);
  if (!added) { return found->second; }
  // Eight of a GPC at a time, as drivers part SMs, so that clusters find room in them.
  constexpr int together = 8;
  int left = left_out;
  for (int first = 0; first < sms(); first += together * gpcs_) {
    for (int gpc = 0; gpc < gpcs_; ++gpc) {
      const int end = std::min(first + together * gpcs_, sms());
      for (int sm = first + gpc; sm < end && left > 0; sm += gpcs_, --left) { found->second[static_cast<std::size_t>(sm)] = true; }
    }
  }
  return found->second;
}

void SmPool::begin(int lane, int kernel, std::optional<int> waiting) {
  const SimKernel& what = kernels_[static_cast<std::size_t>(kernel)];
  Running& running = lanes_[static_cast<std::size_t>(lane)];
  ++stamp_;
  running = {kernel, waiting, what.computes(), block_spread(machine_, what, capacity_.most(kernel)), 0, nullptr, {}, {}};
  if (what.left_out > 0) { running.left_out = &partition(what.left_out); }
  if (what.computes() && what.compute().persistent) {
    running.tiles_left = what.compute().work.tiles_x * what.compute().work.tiles_y;
  }
}

double SmPool::next_end() const { return *std::min_element(group_next_.begin(), group_next_.end()); }

inline void SmPool::list(int sm) {
  Sm& changed = at(sm);
  if (changed.listed) { return; }
  changed.listed = true;
  changed_.push_back(sm);
}

inline void SmPool::count_residents(int sm, int lane, int change) {
  const Running& running = lanes_[static_cast<std::size_t>(lane)];
  Sm& here = at(sm);
  (running.computes ? here.computing : here.communicating) += change;
  here.mix = mixes_.with(here.mix, running.kernel, change);
}

void SmPool::count_waiting(int sm, int lane, int change) {
  Sm& here = at(sm);
  here.communicating += change;
  here.mix = mixes_.with(here.mix, *lanes_[static_cast<std::size_t>(lane)].waiting, change);
}

inline void SmPool::remove_ended(int sm, double slack) {
  residents_.bring_up(sm, now_);
  for (std::size_t at = 0; at < lanes_.size(); ++at) {
    const int lane = static_cast<int>(at);
    if (!residents_.any(lane, sm)) { continue; }
    const int ended = residents_.end(lane, sm, 2 * slack, lanes_[at].tiles_left);
    if (ended > 0) { count_residents(sm, lane, -ended); }
    if (ended > 0 && lanes_[at].waiting) {
      count_waiting(sm, lane, ended);
      lanes_[at].to_leave.push_back({sm, ended, 0});
    }
    ended_[at] += ended;
  }
  list(sm);
}

const std::vector<std::int64_t>& SmPool::advance(double now) {
  now_ = now;
  const double slack = now * kSameInstant;
  std::ranges::fill(ended_, 0);
  for (std::size_t group = 0; group < group_next_.size(); ++group) {
    if (group_next_[group] > now + slack) { continue; }
    const std::size_t last = std::min(sms_.size(), (group + 1) * kGroup);
    for (std::size_t at = group * kGroup; at < last; ++at) {
      if (next_[at] <= now + slack) { remove_ended(static_cast<int>(at), slack); }
    }
  }
  return ended_;
}

int SmPool::room(int lane, int sm) {
  const Running& running = lanes_[static_cast<std::size_t>(lane)];
  if (running.left_out != nullptr && (*running.left_out)[static_cast<std::size_t>(sm)]) { return 0; }
  return mixes_.room(at(sm).mix, running.waiting.value_or(running.kernel));
}

void SmPool::find_rooms(int lane, std::span<const int> sms, std::vector<Room>& rooms) {
  const Running& running = lanes_[static_cast<std::size_t>(lane)];
  const int kernel = running.waiting.value_or(running.kernel);
  rooms.clear();
  int mix = -1;
  int blocks = 0;
  for (const int sm : sms) {
    if (running.left_out != nullptr && (*running.left_out)[static_cast<std::size_t>(sm)]) { continue; }
    // Neighbours mostly hold the same.
    if (at(sm).mix != mix) {
      mix = at(sm).mix;
      blocks = mixes_.room(mix, kernel);
    }
    if (blocks > 0) { rooms.push_back({sm, blocks}); }
  }
}

double SmPool::scatter(const Running& running, std::int64_t block) {
  return running.spread > 0 ? 1.0 + running.spread * scattered(static_cast<std::uint64_t>(block)) : 1.0;
}

void SmPool::place(int lane, int sm, int count, double work, std::int64_t first) {
  Running& running = lanes_[static_cast<std::size_t>(lane)];
  const double scattered_work = work * scatter(running, first);
  if (!running.waiting) { return this->work(lane, sm, count, scattered_work); }
  list(sm);
  count_waiting(sm, lane, count);
  running.to_start.push_back({sm, count, scattered_work});
}

std::int64_t SmPool::fill(int lane, std::span<const Room> rooms, double work, std::int64_t first) {
  for (const Room& room : rooms) {
    place(lane, room.sm, room.blocks, work, first);
    first += room.blocks;
  }
  return first;
}

inline void SmPool::work(int lane, int sm, int count, double work) {
  list(sm);
  residents_.bring_up(sm, now_);
  residents_.add(lane, sm, count, work);
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
    first.count -= some;
    if (first.count == 0) { waiting.pop_front(); }
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
    first.count -= some;
    if (first.count == 0) { waiting.pop_front(); }
  }
}

std::pair<std::vector<SmPool::Waiting>, std::vector<SmPool::Waiting>> SmPool::waiting(int lane) const {
  const Running& running = lanes_[static_cast<std::size_t>(lane)];
  return {{running.to_start.begin(), running.to_start.end()}, {running.to_leave.begin(), running.to_leave.end()}};
}

void SmPool::wait(int lane, const std::vector<Waiting>& to_start, const std::vector<Waiting>& to_leave) {
  for (const std::vector<Waiting>* blocks : {&to_start, &to_leave}) {
    for (const Waiting& one : *blocks) {
      list(one.sm);
      count_waiting(one.sm, lane, static_cast<int>(one.count));
    }
  }
  Running& running = lanes_[static_cast<std::size_t>(lane)];
  running.to_start.assign(to_start.begin(), to_start.end());
  running.to_leave.assign(to_leave.begin(), to_leave.end());
}

void SmPool::set_copying(bool copying) {
  rates_.set_copying(copying);
  copying_changed_ = true;
}

inline const double* SmPool::lane_rates(int mix) {
  const auto at = static_cast<std::size_t>(mix);
  if (at >= stamps_.size() || stamps_[at] != stamp_) { set_lane_rates(mix); }
  return lane_rates_.data() + at * lanes_.size();
}

void SmPool::set_lane_rates(int mix) {
  const auto at = static_cast<std::size_t>(mix);
  stamps_.resize(std::max(stamps_.size(), mixes_.size()), -1);
  lane_rates_.resize(stamps_.size() * lanes_.size());
  const Mix& shares = mixes_.mix(mix);
  const std::vector<double>& rates = rates_.rates(mix);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const auto share = std::ranges::find(shares, lanes_[lane].kernel, &Share::kernel);
    lane_rates_[at * lanes_.size() + lane] = share == shares.end() ? 0 : rates[static_cast<std::size_t>(share - shares.begin())];
  }
  stamps_[at] = stamp_;
}

void SmPool::set_all_rates() {
  for (const int mix : rates_.held()) { static_cast<void>(lane_rates(mix)); }
  const double* const rates = lane_rates_.data();
  const auto rates_of = [&](std::size_t sm) { return rates + static_cast<std::size_t>(sms_[sm].mix) * lanes_.size(); };
  residents_.set_all_rates(now_, rates_of, next_.data());
  for (std::size_t group = 0; group < group_next_.size(); ++group) { refresh(group); }
}

void SmPool::set_changed_rates() {
  int mix = -1;
  const double* rates = nullptr;
  for (const int sm : changed_) {
    if (at(sm).mix != mix) {
      mix = at(sm).mix;
      rates = lane_rates(mix);
    }
    next_[static_cast<std::size_t>(sm)] = residents_.set_rates(sm, now_, rates);
  }
  // SMs mostly change in their order.
  std::size_t refreshed = group_next_.size();
  for (const int sm : changed_) {
    const std::size_t group = static_cast<std::size_t>(sm) / kGroup;
    if (group != refreshed) { refresh(group); }
    refreshed = group;
  }
}

void SmPool::refresh(std::size_t group) {
  // By halves, so that no comparison waits for the one before.
  std::array<double, kGroup> least{};
  std::copy_n(next_.begin() + static_cast<std::ptrdiff_t>(group * kGroup), kGroup, least.begin());
  for (std::size_t half = kGroup / 2; half > 0; half /= 2) {
    for (std::size_t at = 0; at < half; ++at) { least[at] = std::min(least[at], least[at + half]); }
  }
  group_next_[group] = least.front();
}

void SmPool::settle() {
  bool mixes_changed = std::exchange(copying_changed_, false);
  for (const int sm : changed_) {
    Sm& here = at(sm);
    here.listed = false;
    if (here.settled == here.mix) { continue; }
    mixes_changed = true;
    rates_.add(here.settled, -1);
    rates_.add(here.mix, 1);
    here.settled = here.mix;
  }
  if (mixes_changed && rates_.update()) {
    ++stamp_;
    set_all_rates();
  } else {
    set_changed_rates();
  }
  changed_.clear();
}

}  // namespace elbowroom::sim
