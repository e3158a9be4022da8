#include "backend_sim/sim_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
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
    int kernel = kCopy;  ///< kCopy: there is none
    double copied = 0;
  };

  Result<Known> of(const Launch& launch, const Lane& lane) {
    const auto [found, added] = known_.try_emplace(std::tuple(launch.operation, launch.lane, launch.settings));
    if (!added) return found->second;
    Result<LaunchModel> model = model_of_(launch, lane);
    if (!model) return model.error();
    found->second.copied = model->copied;
    if (model->kernel) {
      found->second.kernel = static_cast<int>(kernels_.size());
      kernels_.push_back(std::move(*model->kernel));
    }
    return found->second;
  }

 private:
  const ModelOf& model_of_;
  std::vector<SimKernel>& kernels_;
  std::map<std::tuple<int, int, LaunchSettings>, Known> known_;
};

/// First and last task of a launch.
struct Part {
  int first = 0;
  int last = 0;
};

void add_tasks(const Launch& launch, const Lane& lane, const Kernels::Known& known, double launched, const std::vector<Part>& parts,
               SimProgram& made) {
  Task task;
  task.lane = launch.lane;
  task.urgent = lane.urgent;
  task.launched = launched;
  for (const int before : launch.after) task.after.push_back(parts[static_cast<std::size_t>(before)].last);
  for (const int before : launch.after_begun) task.after_begun.push_back(parts[static_cast<std::size_t>(before)].first);
  task.kernel = known.kernel;
  if (known.kernel != kCopy) made.tasks.push_back(task);
  if (known.copied == 0) return;
  task.kernel = kCopy;
  task.bytes = known.copied;
  made.tasks.push_back(std::move(task));
}

Status uncrowd(std::vector<SimKernel>& kernels, const Machine& machine, const DeviceLimits& device) {
  for (SimKernel& kernel : kernels) {
    if (!kernel.computes()) continue;
    Result<AloneOnGpu> alone = uncrowded(machine, device, kernel);
    if (!alone) return alone.error();
    kernel = std::move(alone->kernel);
  }
  return {};
}

Status all_ended(const EngineRun& run, const SimProgram& program) {
  if (run.given_up) {
    return failed(fmt::format(
        "{:.1f} ms were simulated when the time limit passed; it ends with fewer iterations or a longer limit", run.end / 1000));
  }
  for (std::size_t at = 0; at < program.tasks.size(); ++at) {
    if (std::isfinite(run.tasks[at].all_begun) || program.tasks[at].kernel == kCopy) continue;
    const SimKernel& kernel = program.kernels[static_cast<std::size_t>(program.tasks[at].kernel)];
    return failed(fmt::format("the schedule stops at {:.1f} us: a {} of {} blocks in clusters of {} never finds room", run.end,
                              kernel.computes() ? "computation" : "collective", kernel.blocks(), kernel.footprint().cluster));
  }
  return {};
}

}  // namespace

Result<SimProgram> translated(const Step& step, const Program& program, const ModelOf& model_of) {
  SimProgram made;
  Kernels kernels(model_of, made.kernels);
  std::vector<Part> parts;
  double launched = 0;  // the host launches in the program's order
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    const Launch& launch = program.launches[at];
    const Lane& lane = program.lanes[static_cast<std::size_t>(launch.lane)];
    const Result<Kernels::Known> known = kernels.of(launch, lane);
    if (!known) return known.error();
    launched += step.operations[static_cast<std::size_t>(launch.operation)].host_gap.count();
    const int first = static_cast<int>(made.tasks.size());
    add_tasks(launch, lane, *known, launched, parts, made);
    parts.push_back({first, static_cast<int>(made.tasks.size()) - 1});
    made.launch_of.resize(made.tasks.size(), static_cast<int>(at));
  }
  return made;
}

Result<EngineRun> simulate(const SimProgram& program, const Machine& machine, const DeviceLimits& device, const Overdue& overdue) {
  std::vector<SimKernel> kernels = program.kernels;
  if (std::ranges::all_of(program.tasks, [](const Task& task) { return task.lane == 0; })) {
    if (Status done = uncrowd(kernels, machine, device); !done) return done.error();
  }
  const Result<SmCapacity> capacity = SmCapacity::make(device, kernels);
  if (!capacity) return capacity.error();
  EngineRun run = simulate(machine, *capacity, kernels, program.tasks, overdue);
  if (Status ended = all_ended(run, program); !ended) return ended.error();
  return run;
}

}  // namespace elbowroom::sim
