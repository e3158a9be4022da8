#include "backend_sim/engine.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "backend_sim/engine_device.hpp"
#include "backend_sim/meetings.hpp"
#include "backend_sim/sm_history.hpp"

namespace elbowroom::sim {
namespace {

// Some milliseconds.
constexpr std::int64_t kStepsBetweenQuestions = 4096;

int lanes_of(const std::vector<DeviceTasks>& devices) {
  int lanes = 1;
  for (const DeviceTasks& tasks : devices) {
    for (const Task& task : tasks) { lanes = std::max(lanes, task.lane + 1); }
  }
  return lanes;
}

class Engine {
 public:
  Engine(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels,
         const std::vector<DeviceTasks>& devices)
      : meetings_(devices), history_(lanes_of(devices)) {
    for (std::size_t at = 0; at < devices.size(); ++at) {
      devices_.emplace_back(machine, capacity, kernels, devices[at], at, meetings_, history_);
    }
  }

  SimRun run(const Overdue& overdue) {
    SimRun made;
    dispatch();
    for (double next = next_instant(); next != kNever; next = next_instant()) {
      made.end = next;
      if (++made.steps % kStepsBetweenQuestions == 0 && overdue && overdue()) {
        made.given_up = true;
        break;
      }
      for (EngineDevice& device : devices_) { device.advance(next); }
      meetings_.leave([this](const Meetings::Part& part, std::int64_t blocks) { devices_[part.device].leave(part.task, blocks); });
      dispatch();
    }
    for (EngineDevice& device : devices_) { made.devices.push_back(std::move(device.run())); }
    return made;
  }

 private:
  void dispatch() {
    for (EngineDevice& device : devices_) { device.dispatch(); }
    meetings_.start([this](const Meetings::Part& part, std::int64_t blocks) { devices_[part.device].start(part.task, blocks); });
    for (EngineDevice& device : devices_) { device.settle(); }
  }

  [[nodiscard]] double next_instant() const {
    double next = kNever;
    for (const EngineDevice& device : devices_) { next = std::min(next, device.next()); }
    return next;
  }

  Meetings meetings_;
  SmHistory history_;
  std::deque<EngineDevice> devices_;
};

}  // namespace

SimRun simulate(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels,
                const std::vector<DeviceTasks>& devices, const Overdue& overdue) {
  return Engine(machine, capacity, kernels, devices).run(overdue);
}

}  // namespace elbowroom::sim
