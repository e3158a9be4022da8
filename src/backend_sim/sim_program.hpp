#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "backend_sim/engine.hpp"
#include "backend_sim/rank_speeds.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/rank_classes.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom::sim {

/// What a launch is for the engine: a kernel, copies to peers behind it, or both.
struct LaunchModel {
  std::optional<SimKernel> kernel;
  double copied = 0;  ///< bytes that copy engines send; 0: none do
};

/// What the launch of an operation with those settings on that lane is.
using ModelOf = std::function<Result<LaunchModel>(const Launch& launch, const Lane& lane)>;

/// A program as the engine runs it: a device for each class of ranks.
struct SimProgram {
  std::vector<SimKernel> kernels;
  std::vector<DeviceTasks> devices;
  std::vector<std::vector<int>> launch_of;  ///< by device and task
  std::vector<int> device_of;               ///< by rank
};

/// Launches become tasks one by one, on the devices of the ranks that have them: which follows which, and after what, is the
/// program's. Each kernel is asked for once. `classes`: of the step's ranks, as rank_classes() finds them or finer.
/// `speeds`: by class; empty: all GPUs are equal.
Result<SimProgram> translated(const Step& step, const Program& program, const RankClasses& classes, const ModelOf& model_of,
                              const std::vector<RankSpeed>& speeds = {});

/// Where nothing runs beside anything, each computation makes the best use of the device (uncrowded()). `invalid_input` when a
/// kernel does not fit the device, `failed` when the simulation was overdue. `failed`, too, where a kernel never finds room or the
/// ranks it works with.
Result<SimRun> simulate(const SimProgram& program, const Machine& machine, const DeviceLimits& device, const Overdue& overdue = {});

}  // namespace elbowroom::sim
