#include "backend_sim/engine.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "backend_sim/dispatcher.hpp"
#include "backend_sim/sm_pool.hpp"

namespace elbowroom::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Some milliseconds.
constexpr std::int64_t kStepsBetweenQuestions = 4096;

int lanes_of(const std::vector<Task>& tasks) {
  int lanes = 1;
  for (const Task& task : tasks) lanes = std::max(lanes, task.lane + 1);
  return lanes;
}

/// Copies to peers under way: together they go at one rate, of which each has an equal part.
class Copies {
 public:
  explicit Copies(double rate) : rate_(rate) {}

  void begin(std::size_t task, double bytes, double now) {
    share_out(now);
    under_way_.push_back({task, bytes, 0});
    set_ends(now);
  }

  /// The copies that end at `now`.
  std::vector<std::size_t> end(double now) {
    std::vector<std::size_t> ended;
    if (next_end() > now) return ended;
    share_out(now);
    std::erase_if(under_way_, [&](const Copy& copy) {
      if (copy.end > now) return false;
      ended.push_back(copy.task);
      return true;
    });
    set_ends(now);
    return ended;
  }

  [[nodiscard]] double next_end() const {
    double next = kNever;
    for (const Copy& copy : under_way_) next = std::min(next, copy.end);
    return next;
  }

  [[nodiscard]] bool any() const { return !under_way_.empty(); }

 private:
  struct Copy {
    std::size_t task = 0;
    double left = 0;  ///< bytes, at since_
    double end = 0;   ///< as things are
  };

  [[nodiscard]] double share() const { return rate_ / static_cast<double>(under_way_.size()); }

  void share_out(double now) {
    for (Copy& copy : under_way_) copy.left -= (now - since_) * share();
    since_ = now;
  }

  void set_ends(double now) {
    for (Copy& copy : under_way_) copy.end = now + copy.left / share();
  }

  double rate_;
  double since_ = 0;
  std::vector<Copy> under_way_;
};

class Engine {
 public:
  Engine(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels, const std::vector<Task>& tasks)
      : machine_(machine),
        tasks_(tasks),
        pool_(machine, capacity, kernels, lanes_of(tasks)),
        dispatcher_(pool_, kernels, lanes_of(tasks)),
        lanes_(static_cast<std::size_t>(lanes_of(tasks))),
        copies_(copy_rate(machine)) {
    run_.tasks.resize(tasks.size(), {kNever, kNever, kNever});
    for (std::size_t at = 0; at < tasks.size(); ++at) lane_of(tasks[at]).tasks.push_back(at);
  }

  EngineRun run(const Overdue& overdue) {
    make_ready();
    dispatch();
    while (true) {
      const double next = std::min({pool_.next_end(), copies_.next_end(), next_ready()});
      if (next == kNever) break;
      now_ = next;
      if (++run_.counts.steps % kStepsBetweenQuestions == 0 && overdue && overdue()) {
        run_.given_up = true;
        break;
      }
      const std::vector<std::int64_t>& ended = pool_.advance(now_);
      for (std::size_t lane = 0; lane < ended.size(); ++lane) end_blocks(static_cast<int>(lane), ended[lane]);
      end_copies();
      make_ready();
      dispatch();
    }
    run_.end = now_;
    return std::move(run_);
  }

 private:
  struct Lane {
    std::vector<std::size_t> tasks;
    std::size_t head = 0;      ///< in tasks: the one that runs or comes next
    bool running = false;      ///< handed to the dispatcher, or copying
    double previous_end = -1;  ///< of the task before; negative: there is none
  };

  Lane& lane_of(const Task& task) { return lanes_[static_cast<std::size_t>(task.lane)]; }
  [[nodiscard]] const TaskTimes& times_of(int task) const { return run_.tasks[static_cast<std::size_t>(task)]; }

  /// When the head of a lane may start as far as is known now: never while something it waits for is still to come.
  [[nodiscard]] double ready_at(const Lane& lane) const {
    if (lane.running || lane.head == lane.tasks.size()) return kNever;
    const Task& task = tasks_[lane.tasks[lane.head]];
    const double gap = task.kernel == kCopy ? machine_.copy_gap : machine_.launch_gap;
    // Other lanes begin behind an event of the first one, which begins at once.
    double ready = lane.previous_end < 0 ? (task.lane > 0 ? machine_.event_gap : 0) : lane.previous_end + gap;
    ready = std::max(ready, task.launched);
    for (const int before : task.after) ready = std::max(ready, times_of(before).end + machine_.event_gap);
    for (const int before : task.after_begun) ready = std::max(ready, times_of(before).all_begun + machine_.event_gap);
    return ready;
  }

  [[nodiscard]] double next_ready() const {
    double next = kNever;
    for (const Lane& lane : lanes_) next = std::min(next, ready_at(lane));
    return next;
  }

  void make_ready() {
    for (Lane& lane : lanes_) {
      if (ready_at(lane) > now_) continue;
      lane.running = true;
      const std::size_t at = lane.tasks[lane.head];
      if (tasks_[at].kernel == kCopy) {
        run_.tasks[at].begin = run_.tasks[at].all_begun = now_;
        copies_.begin(at, tasks_[at].bytes, now_);
        pool_.set_copying(true);
      } else {
        dispatcher_.add(at, tasks_[at]);
      }
    }
  }

  void end_copies() {
    for (const std::size_t ended : copies_.end(now_)) {
      if (!copies_.any()) pool_.set_copying(false);
      end_task(ended);
    }
  }

  void dispatch() {
    for (const std::size_t at : dispatcher_.place_blocks()) {
      TaskTimes& times = run_.tasks[at];
      if (times.begin == kNever) times.begin = now_;
      if (!dispatcher_.pending(at)) times.all_begun = now_;
    }
    pool_.settle();
  }

  void end_blocks(int lane, std::int64_t count) {
    if (count == 0) return;
    run_.counts.blocks += count;
    const std::optional<std::size_t> ended = dispatcher_.end_blocks(lane, count);
    if (ended) end_task(*ended);
  }

  void end_task(std::size_t ended) {
    run_.tasks[ended].end = now_;
    Lane& lane = lane_of(tasks_[ended]);
    lane.previous_end = now_;
    lane.running = false;
    ++lane.head;
  }

  const Machine& machine_;
  const std::vector<Task>& tasks_;
  SmPool pool_;
  Dispatcher dispatcher_;
  std::vector<Lane> lanes_;
  Copies copies_;
  double now_ = 0;
  EngineRun run_;
};

}  // namespace

EngineRun simulate(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels,
                   const std::vector<Task>& tasks, const Overdue& overdue) {
  return Engine(machine, capacity, kernels, tasks).run(overdue);
}

}  // namespace elbowroom::sim
