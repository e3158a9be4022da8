#include "backend_sim/dispatcher.hpp"

#include <algorithm>
#include <numeric>

namespace elbowroom::sim {

Dispatcher::Dispatcher(SmPool& pool, const std::vector<SimKernel>& kernels, int lanes)
    : pool_(pool), kernels_(kernels), active_(static_cast<std::size_t>(lanes)) {
  all_.resize(static_cast<std::size_t>(pool.sms()));
  std::iota(all_.begin(), all_.end(), 0);
}

void Dispatcher::add(std::size_t task, const Task& what) {
  Active active;
  active.task = task;
  active.lane = what.lane;
  active.kernel = &kernels_[static_cast<std::size_t>(*what.kernel)];
  active.urgent = what.urgent;
  active.order = ++added_;
  active.blocks = active.kernel->blocks();
  pool_.begin(what.lane, *what.kernel, what.waiting);
  active_[static_cast<std::size_t>(what.lane)] = active;
}

bool Dispatcher::pending(std::size_t task) const {
  return std::any_of(active_.begin(), active_.end(), [task](const std::optional<Active>& active) {
    return active && active->task == task && active->next < active->blocks;
  });
}

Dispatcher::Active* Dispatcher::head() {
  Active* first = nullptr;
  for (std::optional<Active>& active : active_) {
    if (!active || active->next == active->blocks) { continue; }
    const bool before = first == nullptr || (active->urgent != first->urgent ? active->urgent : active->order < first->order);
    if (before) { first = &*active; }
  }
  return first;
}

const std::vector<std::size_t>& Dispatcher::place_blocks() {
  placed_.clear();
  while (Active* active = head()) {
    const std::int64_t before = active->next;
    if (active->kernel->computes()) {
      place_compute(*active);
    } else {
      place_comm(*active);
    }
    if (active->next > before) { placed_.push_back(active->task); }
    if (active->next < active->blocks) {
      full_for_ = active->task;
      break;
    }
    full_for_.reset();
  }
  return placed_;
}

std::int64_t Dispatcher::placed(int lane) const {
  const std::optional<Active>& active = active_[static_cast<std::size_t>(lane)];
  return active ? active->next : 0;
}

void Dispatcher::restore(int lane, std::int64_t placed, std::int64_t ended) {
  Active& active = *active_[static_cast<std::size_t>(lane)];
  active.next = placed;
  active.ended = ended;
}

std::optional<std::size_t> Dispatcher::end_blocks(int lane, std::int64_t count) {
  std::optional<Active>& active = active_[static_cast<std::size_t>(lane)];
  active->ended += count;
  if (active->ended < active->blocks) { return std::nullopt; }
  const std::size_t task = active->task;
  active.reset();
  return task;
}

void Dispatcher::find_rooms(const Active& active) {
  pool_.find_rooms(active.lane, full_for_ == active.task ? pool_.changed() : all_, rooms_);
}

double Dispatcher::work_of(const ComputeProfile& compute, std::int64_t block) {
  const double overhead_tiles = compute.block_overhead / compute.tile_time.front();
  return overhead_tiles + (compute.persistent ? 0 : compute.work.tiles(block));
}

void Dispatcher::place_compute(Active& active) {
  const ComputeProfile& compute = active.kernel->compute();
  find_rooms(active);
  std::int64_t room = 0;
  for (const Room& one : rooms_) { room += one.blocks; }
  const std::int64_t alike = std::min(compute.work.run(active.next), active.blocks - active.next);
  if (alike < room) {
    place_evenly(active);
  } else {
    active.next = pool_.fill(active.lane, rooms_, work_of(compute, active.next), active.next);
  }
}

// Block by block to the SM that has fewest, as the hardware does when it has more room than blocks.
void Dispatcher::place_evenly(Active& active) {
  std::vector<int>& open = open_;
  open.clear();
  for (const Room& room : rooms_) { open.push_back(room.sm); }
  std::stable_sort(open.begin(), open.end(), [this](int a, int b) { return pool_.computing(a) < pool_.computing(b); });
  while (active.next < active.blocks && !open.empty()) {
    const int level = pool_.computing(open.front());
    for (const int sm : open) {
      if (active.next == active.blocks || pool_.computing(sm) > level) { break; }
      pool_.place(active.lane, sm, 1, work_of(active.kernel->compute(), active.next), active.next);
      ++active.next;
    }
    std::erase_if(open, [&](int sm) { return pool_.room(active.lane, sm) == 0; });
  }
}

void Dispatcher::place_comm(Active& active) {
  const int cluster = active.kernel->comm().footprint.cluster;
  while (active.next < active.blocks && place_cluster(active, cluster)) {}
}

std::optional<int> Dispatcher::emptiest_gpc(std::size_t least_open) const {
  const auto gpcs = static_cast<std::size_t>(pool_.gpcs());
  std::vector<std::size_t> open(gpcs, 0);
  std::vector<int> comm(gpcs, 0);
  for (const int sm : open_) { ++open[static_cast<std::size_t>(pool_.gpc(sm))]; }
  for (const int sm : all_) { comm[static_cast<std::size_t>(pool_.gpc(sm))] += pool_.communicating(sm); }
  std::optional<std::size_t> best;
  for (std::size_t gpc = 0; gpc < open.size(); ++gpc) {
    if (open[gpc] < least_open) { continue; }
    if (!best || comm[gpc] < comm[*best] || (comm[gpc] == comm[*best] && open[gpc] > open[*best])) { best = gpc; }
  }
  return best ? std::optional(static_cast<int>(*best)) : std::nullopt;
}

// One cluster on different SMs of one GPC, the emptiest first; a cluster of one block may lie anywhere.
bool Dispatcher::place_cluster(Active& active, int cluster) {
  const auto size = static_cast<std::size_t>(std::min<std::int64_t>(cluster, active.blocks - active.next));
  pool_.find_rooms(active.lane, all_, rooms_);
  open_.clear();
  for (const Room& room : rooms_) { open_.push_back(room.sm); }
  if (size > 1) {
    const std::optional<int> gpc = emptiest_gpc(size);
    if (!gpc) { return false; }
    std::erase_if(open_, [&](int sm) { return pool_.gpc(sm) != *gpc; });
  }
  if (open_.size() < size) { return false; }
  const auto load = [this](int sm) { return std::pair(pool_.communicating(sm), pool_.computing(sm)); };
  const auto emptier = [&](int a, int b) { return load(a) < load(b); };
  if (size == 1) {
    std::iter_swap(open_.begin(), std::ranges::min_element(open_, emptier));
  } else {
    std::ranges::stable_sort(open_, emptier);
  }
  for (std::size_t block = 0; block < size; ++block) { pool_.place(active.lane, open_[block], 1, 1.0, active.next); }
  active.next += static_cast<std::int64_t>(size);
  return true;
}

}  // namespace elbowroom::sim
