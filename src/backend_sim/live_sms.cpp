#include "backend_sim/live_sms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace elbowroom::sim {

std::string QuietSms::key() const {
  std::string text = copying ? "c" : "";
  const auto add = [&](const std::vector<SmPool::Waiting>& blocks) {
    for (const SmPool::Waiting& one : blocks) { text += fmt::format("{}*{}@{},", one.sm, one.count, one.work); }
  };
  for (const Lane& lane : lanes) {
    text +=
        fmt::format("{}:{}:{}:{}:{}:{} ", lane.lane, lane.kernel, lane.waiting.value_or(-1), lane.urgent, lane.placed, lane.ended);
    add(lane.to_start);
    text += ';';
    add(lane.to_leave);
  }
  return text;
}

LiveSms::LiveSms(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels, int lanes)
    : machine_(machine), capacity_(capacity), kernels_(kernels), lane_count_(static_cast<std::size_t>(lanes)) {
  clear();
}

void LiveSms::clear() {
  dispatcher_.reset();
  pool_.emplace(machine_, capacity_, kernels_, static_cast<int>(lane_count_));
  dispatcher_.emplace(*pool_, kernels_, static_cast<int>(lane_count_));
  running_.assign(lane_count_, std::nullopt);
  begun_ = 0;
  copying_ = false;
}

std::vector<EndedBlocks> LiveSms::advance(double now) {
  std::vector<EndedBlocks> shown;
  const std::vector<std::int64_t>& ended = pool_->advance(now);
  for (std::size_t at = 0; at < ended.size(); ++at) {
    if (ended[at] == 0) { continue; }
    const int lane = static_cast<int>(at);
    if (running_[at]->waiting) {
      shown.push_back({lane, ended[at]});
      continue;
    }
    running_[at]->ended += ended[at];
    if (!dispatcher_->end_blocks(lane, ended[at])) { continue; }
    shown.push_back({lane, running_[at]->ended});
    running_[at].reset();
  }
  return shown;
}

void LiveSms::begin(int lane, int kernel, std::optional<int> waiting, bool urgent) {
  running_[static_cast<std::size_t>(lane)] = Running{kernel, waiting, urgent, 0, 0, ++begun_};
  Task task;
  task.kernel = kernel;
  task.lane = lane;
  task.urgent = urgent;
  task.waiting = waiting;
  dispatcher_->add(static_cast<std::size_t>(lane), task);
}

void LiveSms::leave(int lane, std::int64_t count) {
  pool_->leave(lane, count);
  std::optional<Running>& running = running_[static_cast<std::size_t>(lane)];
  running->ended += count;
  if (dispatcher_->end_blocks(lane, count)) { running.reset(); }
}

void LiveSms::set_copying(bool copying) {
  copying_ = copying;
  pool_->set_copying(copying);
}

std::vector<PlacedBlocks> LiveSms::place() {
  std::vector<PlacedBlocks> shown;
  for (const std::size_t at : dispatcher_->place_blocks()) {
    const int lane = static_cast<int>(at);
    Running& running = *running_[at];
    const bool first = running.placed == 0;
    running.placed = dispatcher_->placed(lane);
    const bool all = !dispatcher_->pending(at);
    if (first || all || running.waiting) { shown.push_back({lane, running.placed, all}); }
  }
  return shown;
}

void LiveSms::run_to(double until, std::vector<EndedBlocks>& ended, std::vector<PlacedBlocks>& placed) {
  while (pool_->next_end() < until) {
    for (const EndedBlocks& one : advance(pool_->next_end())) { ended.push_back(one); }
    for (const PlacedBlocks& one : place()) { placed.push_back(one); }
    settle();
  }
}

QuietSms LiveSms::quiet() const {
  QuietSms state;
  state.copying = copying_;
  std::vector<std::size_t> order;
  for (std::size_t at = 0; at < running_.size(); ++at) {
    if (running_[at]) { order.push_back(at); }
  }
  std::ranges::sort(order, {}, [this](std::size_t at) { return running_[at]->order; });
  for (const std::size_t at : order) {
    const Running& running = *running_[at];
    const int lane = static_cast<int>(at);
    const auto [to_start, to_leave] = pool_->waiting(lane);
    state.lanes.push_back(
        {lane, running.kernel, running.waiting, running.urgent, running.placed, running.ended, to_start, to_leave});
  }
  return state;
}

void LiveSms::restore(const QuietSms& state) {
  clear();
  if (state.copying) { set_copying(true); }
  for (const QuietSms::Lane& lane : state.lanes) {
    begin(lane.lane, lane.kernel, lane.waiting, lane.urgent);
    Running& running = *running_[static_cast<std::size_t>(lane.lane)];
    running.placed = lane.placed;
    running.ended = lane.ended;
    dispatcher_->restore(lane.lane, lane.placed, lane.ended);
    pool_->wait(lane.lane, lane.to_start, lane.to_leave);
  }
  settle();
}

}  // namespace elbowroom::sim
