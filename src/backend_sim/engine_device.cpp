#include "backend_sim/engine_device.hpp"

#include <algorithm>
#include <optional>

#include "backend_sim/shared_rates.hpp"

namespace elbowroom::sim {
namespace {

int lanes_of(const std::vector<Task>& tasks) {
  int lanes = 1;
  for (const Task& task : tasks) { lanes = std::max(lanes, task.lane + 1); }
  return lanes;
}

}  // namespace

EngineDevice::EngineDevice(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels,
                           const std::vector<Task>& tasks, std::size_t number, Meetings& meetings)
    : machine_(machine),
      tasks_(tasks),
      number_(number),
      meetings_(meetings),
      pool_(machine, capacity, kernels, lanes_of(tasks)),
      dispatcher_(pool_, kernels, lanes_of(tasks)),
      lanes_(static_cast<std::size_t>(lanes_of(tasks))),
      copies_(copy_rate(machine)) {
  run_.tasks.resize(tasks.size(), {kNever, kNever, kNever});
  for (std::size_t at = 0; at < tasks.size(); ++at) { lane_of(tasks[at]).tasks.push_back(at); }
}

double EngineDevice::next() const { return std::min({pool_.next_end(), copies_.next_end(), next_ready()}); }

void EngineDevice::advance(double now) {
  now_ = now;
  const std::vector<std::int64_t>& ended = pool_.advance(now_);
  for (std::size_t lane = 0; lane < ended.size(); ++lane) { end_blocks(static_cast<int>(lane), ended[lane]); }
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

double EngineDevice::next_ready() const {
  double next = kNever;
  for (const Lane& lane : lanes_) { next = std::min(next, ready_at(lane)); }
  return next;
}

void EngineDevice::make_ready() {
  for (Lane& lane : lanes_) {
    if (ready_at(lane) > now_) { continue; }
    lane.running = true;
    const std::size_t at = lane.tasks[lane.head];
    if (tasks_[at].kernel) {
      dispatcher_.add(at, tasks_[at]);
    } else if (!tasks_[at].meeting) {
      begin_copy(at);
    } else {
      meetings_.placed(*tasks_[at].meeting, number_, 1);
    }
  }
}

void EngineDevice::begin_copy(std::size_t task) {
  run_.tasks[task].begin = run_.tasks[task].all_begun = now_;
  copies_.begin(task, tasks_[task].bytes, now_);
  pool_.set_copying(true);
}

void EngineDevice::dispatch() {
  make_ready();
  for (const std::size_t at : dispatcher_.place_blocks()) {
    TaskTimes& times = run_.tasks[at];
    if (times.begin == kNever) { times.begin = now_; }
    if (!dispatcher_.pending(at)) { times.all_begun = now_; }
    if (tasks_[at].meeting) { meetings_.placed(*tasks_[at].meeting, number_, dispatcher_.placed(tasks_[at].lane)); }
  }
}

void EngineDevice::start(std::size_t task, std::int64_t count) {
  if (!tasks_[task].kernel) {
    begin_copy(task);
  } else {
    pool_.start(tasks_[task].lane, count);
  }
}

void EngineDevice::leave(std::size_t task, std::int64_t count) {
  if (!tasks_[task].kernel) { return end_task(task); }
  pool_.leave(tasks_[task].lane, count);
  if (dispatcher_.end_blocks(tasks_[task].lane, count)) { end_task(task); }
}

void EngineDevice::end_blocks(int lane, std::int64_t count) {
  if (count == 0) { return; }
  run_.blocks += count;
  const Lane& own = lanes_[static_cast<std::size_t>(lane)];
  if (const Task& task = tasks_[own.tasks[own.head]]; task.meeting) { return meetings_.done(*task.meeting, number_, count); }
  const std::optional<std::size_t> ended = dispatcher_.end_blocks(lane, count);
  if (ended) { end_task(*ended); }
}

void EngineDevice::end_copies() {
  for (const std::size_t ended : copies_.end(now_)) {
    if (!copies_.any()) { pool_.set_copying(false); }
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
}

}  // namespace elbowroom::sim
