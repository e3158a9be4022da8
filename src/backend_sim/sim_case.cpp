#include "backend_sim/sim_case.hpp"

#include <fmt/format.h>

#include <cmath>

#include "backend_sim/crowding.hpp"

namespace elbowroom::sim {

std::vector<Launch> make_program(const SimCase& what) {
  std::vector<Launch> program;
  const bool two_streams = what.order == Order::concurrent;
  int latest_comm = -1;
  for (int iteration = 0; iteration < what.iterations; ++iteration) {
    const bool computes = what.order != Order::comm_only && iteration >= what.first_compute;
    const bool communicates = what.order != Order::compute_only && iteration < what.iterations - what.idle_comms;
    if (computes) {
      Launch launch;
      launch.kind = Kind::compute;
      // The gate opens when the collective before has begun with all its blocks.
      if (two_streams && what.launch_gate && iteration > 0 && what.pattern == Pattern::pipeline) {
        launch.after_begun = latest_comm;
      }
      program.push_back(launch);
    }
    if (communicates) {
      Launch launch;
      launch.kind = Kind::comm;
      launch.stream = two_streams ? 1 : 0;
      launch.urgent = two_streams && what.priority;
      if (two_streams && computes && what.pattern == Pattern::pipeline) launch.after = static_cast<int>(program.size()) - 1;
      latest_comm = static_cast<int>(program.size());
      if (!what.copies_only) program.push_back(launch);
      if (what.copied == 0) continue;
      launch.kind = Kind::copy;
      launch.bytes = what.copied;
      program.push_back(launch);
    }
  }
  return program;
}

Result<EngineRun> simulate(const SimCase& what, const DeviceLimits& device, const Overdue& overdue) {
  Result<SmCapacity> capacity = SmCapacity::make(device, what.compute.footprint, what.comm.footprint, what.carveout);
  if (!capacity) return capacity.error();
  Machine machine = what.machine;
  ComputeProfile compute = what.compute;
  if (what.order == Order::compute_only || what.order == Order::sequential) {
    const AloneOnGpu use = uncrowded(machine, *capacity, compute, what.comm);
    machine.comm_sms = use.comm_sms;
    compute.work = use.work;
  }
  EngineRun run = simulate(machine, *capacity, compute, what.comm, make_program(what), overdue);
  if (run.given_up) {
    return failed(fmt::format(
        "{:.1f} ms were simulated when the time limit passed; it ends with fewer iterations or a longer limit", run.end / 1000));
  }
  for (const LaunchTimes& times : run.launches) {
    if (std::isfinite(times.end)) continue;
    return failed(fmt::format("the schedule stops at {:.1f} us: a collective of {} blocks in clusters of {} never finds room",
                              run.end, what.comm.blocks, what.comm.footprint.cluster));
  }
  return run;
}

}  // namespace elbowroom::sim
