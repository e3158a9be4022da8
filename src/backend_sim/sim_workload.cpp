#include "backend_sim/sim_workload.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "backend_sim/performance.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::sim {
namespace {

Nanoseconds stamp(double microseconds) { return Nanoseconds(std::llround(microseconds * 1000.0)); }

LaunchShape shape_of(const SimKernel& kernel) {
  const KernelFootprint& footprint = kernel.footprint();
  return {Blocks(kernel.blocks()), footprint.threads,        footprint.registers_per_thread,
          footprint.static_shared, footprint.dynamic_shared, footprint.cluster};
}

}  // namespace

Result<std::unique_ptr<SimWorkload>> SimWorkload::make(const Step& step, const DeviceLimits& device, const RunNoise& noise,
                                                       std::chrono::milliseconds time_limit,
                                                       const std::optional<MachineSpec>& machine,
                                                       const std::vector<RankSpeed>& speeds) {
  Result<LaunchModels> models = LaunchModels::make(step, device, machine);
  if (!models) { return models.error(); }
  UnequalClasses classes =
      speeds.empty() ? UnequalClasses{rank_classes(step), {}} : unequal_classes(step, speeds, performance_of(device).host);
  return std::unique_ptr<SimWorkload>(new SimWorkload(step, std::move(*models), device, noise, time_limit, std::move(classes)));
}

Status SimWorkload::accepts(const Program& program) const {
  std::set<std::tuple<int, int, bool, LaunchSettings>> known;
  for (const Launch& launch : program.launches) {
    if (!known.emplace(launch.operation, launch.lane, launch.after_begun.empty(), launch.settings).second) { continue; }
    const Lane& lane = program.lanes[static_cast<std::size_t>(launch.lane)];
    if (Status accepted = models_.accepts(launch, lane); !accepted) { return accepted; }
  }
  return {};
}

Result<const SimWorkload::Answer*> SimWorkload::answer(const Program& program) {
  if (const auto known = answers_.find(program); known != answers_.end()) { return &known->second; }
  if (Status accepted = accepts(program); !accepted) { return accepted.error(); }
  Result<SimProgram> translation = translated(
      step_, program, classes_, [this](const Launch& launch, const Lane& lane) { return models_.model_of(launch, lane); }, speeds_);
  if (!translation) { return translation.error(); }
  const auto until = std::chrono::steady_clock::now() + time_limit_;
  const Overdue overdue = [until] { return std::chrono::steady_clock::now() > until; };
  Result<SimRun> run = simulate(*translation, machine_of(device_), device_, overdue);
  if (!run) { return run.error(); }
  return &answers_.emplace(program, Answer{std::move(*translation), std::move(*run)}).first->second;
}

Result<Microseconds> SimWorkload::run(const Program& program) {
  const Result<const Answer*> found = answer(program);
  if (!found) { return found.error(); }
  return Microseconds((*found)->run.end) * noise_.next();
}

Result<Timeline> SimWorkload::record(const Program& program) {
  const Result<const Answer*> found = answer(program);
  if (!found) { return found.error(); }
  const Answer& known = **found;
  Timeline timeline;
  timeline.provenance = Provenance::simulated;
  std::size_t shown = 0;  // devices
  for (int rank = 0; rank < step_.ranks; ++rank) {
    const auto device = static_cast<std::size_t>(known.program.device_of[static_cast<std::size_t>(rank)]);
    // Devices are numbered in the order of their first ranks.
    if (step_.ranks > performance_of(device_).host && device < shown) { continue; }
    shown = std::max(shown, device + 1);
    const DeviceTasks& tasks = known.program.devices[device];
    for (std::size_t at = 0; at < tasks.size(); ++at) {
      const Task& task = tasks[at];
      const Launch& launch = program.launches[static_cast<std::size_t>(known.program.launch_of[device][at])];
      Span span;
      span.kind =
          computes(step_.operations[static_cast<std::size_t>(launch.operation)]) ? SpanKind::compute : SpanKind::communication;
      span.name = task.kernel ? models_.kernel_name(launch) : "copies to peers";
      if (task.kernel) { span.launch = shape_of(known.program.kernels[static_cast<std::size_t>(*task.kernel)]); }
      span.device = rank;
      span.stream = task.lane;
      const TaskTimes& times = known.run.devices[device].tasks[at];
      span.begin = stamp(times.begin);
      span.end = stamp(times.end);
      timeline.spans.push_back(std::move(span));
    }
  }
  return timeline;
}

Status SimWorkload::verify(const Program& program) {
  const Result<const Answer*> ran = answer(program);
  return ran ? Status() : Status(ran.error());
}

}  // namespace elbowroom::sim
