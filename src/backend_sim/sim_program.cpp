#include "backend_sim/sim_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "backend_sim/crowding.hpp"

namespace elbowroom::sim {
namespace {

/// The engine's kernels of a program, each once.
class Kernels {
 public:
  Kernels(const ModelOf& model_of, std::vector<SimKernel>& kernels) : model_of_(model_of), kernels_(kernels) {}

  struct Known {
    std::optional<int> kernel;   ///< absent: there is none
    std::optional<int> waiting;  ///< the same kernel while it waits for other devices; absent: not asked for yet
    double copied = 0;
  };

  /// Operations of equal work share a kernel, so that what SMs did for one is known for the others.
  Result<Known> of(const Launch& launch, const Lane& lane, const RankSpeed& speed, bool meets) {
    const std::tuple key(launch.operation, launch.lane, launch.settings, speed.compute_time, speed.link_rate);
    const auto [found, added] = known_.try_emplace(key);
    Known& known = found->second;
    if (added) {
      Result<LaunchModel> model = model_of_(launch, lane);
      if (!model) { return model.error(); }
      known.copied = model->copied / speed.link_rate;
      if (model->kernel) { known.kernel = number_of(at_speed(std::move(*model->kernel), speed), launch.lane); }
    }
    if (meets && known.kernel && !known.waiting) { known.waiting = number_of(waiting(at(*known.kernel)), launch.lane); }
    return known;
  }

 private:
  [[nodiscard]] const SimKernel& at(int kernel) const { return kernels_[static_cast<std::size_t>(kernel)]; }

  /// A kernel of the engine's belongs to one lane.
  int number_of(SimKernel kernel, int lane) {
    for (std::size_t at = 0; at < kernels_.size(); ++at) {
      if (lanes_[at] == lane && kernels_[at] == kernel) { return static_cast<int>(at); }
    }
    kernels_.push_back(std::move(kernel));
    lanes_.push_back(lane);
    return static_cast<int>(kernels_.size()) - 1;
  }

  static SimKernel waiting(SimKernel kernel) {
    std::get<CommProfile>(kernel.profile).waits = true;
    return kernel;
  }

  const ModelOf& model_of_;
  std::vector<SimKernel>& kernels_;
  std::vector<int> lanes_;  ///< by kernel
  std::map<std::tuple<int, int, LaunchSettings, double, double>, Known> known_;
};

/// The devices' tasks as they are put together.
class Tasks {
 public:
  Tasks(const Program& program, const RankClasses& classes, SimProgram& made)
      : program_(program),
        made_(made),
        parts_(static_cast<std::size_t>(classes.count), std::vector<std::optional<Part>>(program.launches.size())),
        launched_(parts_.size()) {
    made.devices.resize(parts_.size());
    made.launch_of.resize(parts_.size());
    made.device_of = classes.of_rank;
  }

  /// On one device of those that run it with each other.
  void add(int at, const Kernels::Known& known, Microseconds host_gap, std::size_t device, bool meets) {
    const Launch& launch = program_.launches[static_cast<std::size_t>(at)];
    DeviceTasks& tasks = made_.devices[device];
    std::vector<std::optional<Part>>& parts = parts_[device];
    Task task;
    task.lane = launch.lane;
    task.urgent = program_.lanes[static_cast<std::size_t>(launch.lane)].urgent;
    task.launched = launched_[device] += host_gap.count();
    for (const int before : launch.after) {
      if (const std::optional<Part>& part = parts[static_cast<std::size_t>(before)]) { task.after.push_back(part->last); }
    }
    for (const int before : launch.after_begun) {
      if (const std::optional<Part>& part = parts[static_cast<std::size_t>(before)]) { task.after_begun.push_back(part->first); }
    }
    task.kernel = known.kernel;
    const auto first = static_cast<int>(tasks.size());
    if (known.kernel) {
      if (meets) { task.meeting = meetings_; }
      if (meets) { task.waiting = known.waiting; }
      tasks.push_back(task);
    }
    if (known.copied != 0) {
      task.kernel.reset();
      task.bytes = known.copied;
      if (meets) { task.meeting = meetings_ + 1; }
      tasks.push_back(std::move(task));
    }
    parts[static_cast<std::size_t>(at)] = Part{first, static_cast<int>(tasks.size()) - 1};
    made_.launch_of[device].resize(tasks.size(), at);
  }
  /// All that run it together have it.
  void end_meeting() { meetings_ += 2; }

 private:
  /// First and last task of a launch on a device.
  struct Part {
    int first = 0;
    int last = 0;
  };

  const Program& program_;
  SimProgram& made_;
  std::vector<std::vector<std::optional<Part>>> parts_;  ///< by device and launch; absent: the launch is not there
  std::vector<double> launched_;                         ///< by device: when its host has launched the latest
  int meetings_ = 0;                                     ///< numbers taken
};

Status uncrowd(std::vector<SimKernel>& kernels, const Machine& machine, const DeviceLimits& device) {
  for (SimKernel& kernel : kernels) {
    if (!kernel.computes()) { continue; }
    Result<AloneOnGpu> alone = uncrowded(machine, device, kernel);
    if (!alone) { return alone.error(); }
    kernel = std::move(alone->kernel);
  }
  return {};
}

Status device_ended(const SimProgram& program, std::size_t device, const SimRun& run) {
  const DeviceTasks& tasks = program.devices[device];
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    const TaskTimes& times = run.devices[device].tasks[at];
    if (std::isfinite(times.end) || !tasks[at].kernel) { continue; }
    const SimKernel& kernel = program.kernels[static_cast<std::size_t>(*tasks[at].kernel)];
    const char* const side = kernel.computes() ? "computation" : "collective";
    if (std::isfinite(times.all_begun)) {
      return failed(fmt::format("the schedule stops at {:.1f} us: a {} waits for ranks that never come to it", run.end, side));
    }
    return failed(fmt::format("the schedule stops at {:.1f} us: a {} of {} blocks in clusters of {} never finds room", run.end,
                              side, kernel.blocks(), kernel.footprint().cluster));
  }
  return {};
}

Status all_ended(const SimRun& run, const SimProgram& program) {
  if (run.given_up) {
    return failed(fmt::format(
        "{:.1f} ms were simulated when the time limit passed; it ends with fewer iterations or a longer limit", run.end / 1000));
  }
  for (std::size_t device = 0; device < program.devices.size(); ++device) {
    if (Status ended = device_ended(program, device, run); !ended) { return ended; }
  }
  return {};
}

bool on_one_lane(const DeviceTasks& tasks) {
  return std::ranges::all_of(tasks, [](const Task& task) { return task.lane == 0; });
}

}  // namespace

Result<SimProgram> translated(const Step& step, const Program& program, const RankClasses& classes, const ModelOf& model_of,
                              const std::vector<RankSpeed>& speeds) {
  SimProgram made;
  Kernels kernels(model_of, made.kernels);
  Tasks tasks(program, classes, made);
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    const Launch& launch = program.launches[at];
    const auto operation = static_cast<std::size_t>(launch.operation);
    for (const std::vector<int>& together : classes.of_operation[operation]) {
      const Lane& lane = program.lanes[static_cast<std::size_t>(launch.lane)];
      const bool meets = together.size() > 1;
      for (const int device : together) {
        const RankSpeed speed = speeds.empty() ? RankSpeed{} : speeds[static_cast<std::size_t>(device)];
        const Result<Kernels::Known> known = kernels.of(launch, lane, speed, meets);
        if (!known) { return known.error(); }
        tasks.add(static_cast<int>(at), *known, step.operations[operation].host_gap, static_cast<std::size_t>(device), meets);
      }
      if (meets) { tasks.end_meeting(); }
    }
  }
  return made;
}

Result<SimRun> simulate(const SimProgram& program, const Machine& machine, const DeviceLimits& device, const Overdue& overdue) {
  std::vector<SimKernel> kernels = program.kernels;
  if (std::ranges::all_of(program.devices, on_one_lane)) {
    if (Status done = uncrowd(kernels, machine, device); !done) { return done.error(); }
  }
  const Result<SmCapacity> capacity = SmCapacity::make(device, kernels);
  if (!capacity) { return capacity.error(); }
  SimRun run = simulate(machine, *capacity, kernels, program.devices, overdue);
  if (Status ended = all_ended(run, program); !ended) { return ended.error(); }
  return run;
}

}  // namespace elbowroom::sim
