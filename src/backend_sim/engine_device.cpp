#include "backend_sim/engine_device.hpp"

#include <algorithm>
#include <optional>

#include "backend_sim/shared_rates.hpp"

namespace elbowroom::sim {
EngineDevice::EngineDevice(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels,
                           const std::vector<Task>& tasks, std::size_t number, Meetings& meetings, SmHistory& history)
    : machine_(machine),
      tasks_(tasks),
      number_(number),
      meetings_(meetings),
      kernels_(kernels),
      sms_(machine, capacity, kernels, history.lanes(), history),
      lanes_(static_cast<std::size_t>(history.lanes())),
      copies_(copy_rate(machine)) {
  run_.tasks.resize(tasks.size(), {kNever, kNever, kNever});
  for (std::size_t at = 0; at < tasks.size(); ++at) { lane_of(tasks[at]).tasks.push_back(at); }
}

double EngineDevice::next() const { return std::min({sms_.next(), copies_.next_end(), ready_}); }

void EngineDevice::advance(double now) {
  now_ = now;
  for (const EndedBlocks& ended : sms_.advance(now_)) { end_blocks(ended); }
  end_copies();
}

/// When the head of a lane may start as far as is known now: never while something it waits for is still to come.
double EngineDevice::ready_at(const Lane& lane) const {
  if (lane.running || lane.head == lane.tasks.size()) { return kNever; }
  const Task& task = tasks_[lane.tasks[lane.head]];
  const double gap = task.kernel ? machine_.launch_gap : machine_.copy_gap;
  // Other lanes begin behind an event of the first one, which begins at once.
  double ready = lane.previous_end ? *lane.previous_end + gap : (task.lane > 0 ? machine_.event_gap : 0);
  ready = std::max(ready, task.launched);
  for (const int before : task.after) { ready = std::max(ready, times_of(before).end + machine_.event_gap); }
  for (const int before : task.after_begun) { ready = std::max(ready, times_of(before).all_begun + machine_.event_gap); }
  return ready;
}

void EngineDevice::find_ready() {
  ready_ = kNever;
  for (const Lane& lane : lanes_) { ready_ = std::min(ready_, ready_at(lane)); }
  lanes_changed_ = false;
}

void EngineDevice::make_ready() {
  if (!lanes_changed_ && ready_ > now_) { return; }
  for (Lane& lane : lanes_) {
    if (ready_at(lane) > now_) { continue; }
    lane.running = lanes_changed_ = true;
    const std::size_t at = lane.tasks[lane.head];
    const Task& task = tasks_[at];
    if (task.kernel) {
      lane.blocks = kernels_[static_cast<std::size_t>(*task.kernel)].blocks();
      sms_.begin(task.lane, *task.kernel, task.meeting ? task.waiting : std::nullopt, task.urgent);
    } else if (!tasks_[at].meeting) {
      begin_copy(at);
    } else {
      meetings_.placed(*tasks_[at].meeting, number_, 1);
    }
  }
}

void EngineDevice::begin_copy(std::size_t task) {
  run_.tasks[task].begin = run_.tasks[task].all_begun = now_;
  lanes_changed_ = true;
  copies_.begin(task, tasks_[task].bytes, now_);
  sms_.set_copying(true);
}

void EngineDevice::dispatch() {
  make_ready();
  for (const PlacedBlocks& placed : sms_.place()) {
    const Lane& lane = lanes_[static_cast<std::size_t>(placed.lane)];
    const std::size_t at = lane.tasks[lane.head];
    TaskTimes& times = run_.tasks[at];
    if (times.begin == kNever) { times.begin = now_; }
    if (placed.all) { times.all_begun = now_; }
    lanes_changed_ = lanes_changed_ || placed.all;
    if (tasks_[at].meeting) { meetings_.placed(*tasks_[at].meeting, number_, placed.blocks); }
  }
}

void EngineDevice::settle() {
  if (lanes_changed_) { find_ready(); }
  sms_.settle();
}

void EngineDevice::start(std::size_t task, std::int64_t count) {
  if (!tasks_[task].kernel) {
    begin_copy(task);
  } else {
    sms_.start(tasks_[task].lane, count);
  }
}

void EngineDevice::leave(std::size_t task, std::int64_t count) {
  if (!tasks_[task].kernel) { return end_task(task); }
  sms_.leave(tasks_[task].lane, count);
  std::int64_t& left = lane_of(tasks_[task]).blocks;
  left -= count;
  if (left == 0) { end_task(task); }
}

void EngineDevice::end_blocks(const EndedBlocks& ended) {
  run_.blocks += ended.blocks;
  const Lane& lane = lanes_[static_cast<std::size_t>(ended.lane)];
  const std::size_t task = lane.tasks[lane.head];
  if (tasks_[task].meeting) { return meetings_.done(*tasks_[task].meeting, number_, ended.blocks); }
  end_task(task);
}

void EngineDevice::end_copies() {
  for (const std::size_t ended : copies_.end(now_)) {
    if (!copies_.any()) { sms_.set_copying(false); }
    if (tasks_[ended].meeting) {
      meetings_.done(*tasks_[ended].meeting, number_, 1);
    } else {
      end_task(ended);
    }
  }
}

void EngineDevice::end_task(std::size_t task) {
  run_.tasks[task].end = run_.end = now_;
  Lane& lane = lane_of(tasks_[task]);
  lane.previous_end = now_;
  lane.running = false;
  ++lane.head;
  lanes_changed_ = true;
}

}  // namespace elbowroom::sim
