#pragma once

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

inline Launch compute_launch() { return {}; }

inline Launch comm_launch(bool urgent, int after = -1) {
  Launch launch;
  launch.kind = Kind::comm;
  launch.stream = 1;
  launch.urgent = urgent;
  launch.after = after;
  return launch;
}

inline Launch copy_launch(double bytes) {
  Launch launch = comm_launch(false);
  launch.kind = Kind::copy;
  launch.bytes = bytes;
  return launch;
}

inline EngineRun run(const Machine& machine, const ComputeProfile& compute, const CommProfile& comm,
                     const std::vector<Launch>& program) {
  return simulate(machine, *SmCapacity::make(h200(), compute.footprint, comm.footprint), compute, comm, program);
}

}  // namespace elbowroom::sim
