#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "backend_sim/engine.hpp"
#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom::sim {

// A machine small enough for arithmetic by hand. One block of either kernel has 1,024 of an SM's 2,048 threads, so an SM holds two
// blocks in any mix. A compute block takes 10 us and a communication block 5 us, whatever runs beside them.

inline DeviceLimits h200() { return *find_device("h200"); }

inline Machine machine(int sms) {
  Machine machine;
  machine.sms = sms;
  machine.memory_rate = 1e6;
  machine.event_gap = 1;
  return machine;
}

inline ComputeProfile compute(std::int64_t blocks) {
  ComputeProfile profile;
  profile.footprint = {Threads(1'024), Registers(32), Bytes(0), Bytes(0), 1};
  profile.work = {blocks, 1, blocks, 1};
  profile.tile_time = {10, 10};
  return profile;
}

inline CommProfile comm(int blocks) {
  CommProfile profile;
  profile.footprint = {Threads(1'024), Registers(32), Bytes(0), Bytes(0), 1};
  profile.blocks = blocks;
  profile.startup = 5;
  profile.block_rate = 1e3;
  profile.sm_rate = 1e6;
  profile.link_rate = 1e6;
  return profile;
}

// More than half of an SM's 228 KiB: one block per SM.
inline constexpr Bytes kPadToOne = kibibytes(120);

// Kernel 0 on lane 0.
inline Task compute_launch() { return {}; }

// Kernel 1 on lane 1.
inline Task comm_launch(bool urgent, std::vector<int> after = {}) {
  Task task;
  task.kernel = 1;
  task.lane = 1;
  task.urgent = urgent;
  task.after = std::move(after);
  return task;
}

inline Task copy_launch(double bytes) {
  Task task = comm_launch(false);
  task.kernel.reset();
  task.bytes = bytes;
  return task;
}

inline SimKernel kernel(const ComputeProfile& compute) { return {compute, 0, std::nullopt}; }
inline SimKernel kernel(const CommProfile& comm) { return {comm, 0, std::nullopt}; }

inline EngineRun run(const Machine& machine, const std::vector<SimKernel>& kernels, const std::vector<Task>& tasks) {
  SimRun run = simulate(machine, *SmCapacity::make(h200(), kernels), kernels, {tasks});
  return std::move(run.devices.front());
}

inline EngineRun run(const Machine& machine, const ComputeProfile& compute, const CommProfile& comm,
                     const std::vector<Task>& tasks) {
  return run(machine, {kernel(compute), kernel(comm)}, tasks);
}

}  // namespace elbowroom::sim
