#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "backend_sim/kernel_profiles.hpp"
#include "backend_sim/machine.hpp"
#include "backend_sim/sm_capacity.hpp"

namespace elbowroom::sim {

/// A copy is one to peers by the copy engines: it takes no SM, only memory.
enum class Kind : std::uint8_t { compute, comm, copy };

/// One kernel launch or copy on one of the two streams. Indices refer to the program's order.
struct Launch {
  Kind kind = Kind::compute;
  int stream = 0;        ///< 0: compute stream, 1: communication stream
  int after = -1;        ///< starts after this launch has ended (an event); -1: none
  int after_begun = -1;  ///< starts after every block of this launch has begun (the launch gate); -1: none
  bool urgent = false;   ///< greatest priority
  double bytes = 0;      ///< that a copy sends; a kernel's are in its profile
};

/// From a launch's first block's start to its last block's end, in microseconds.
struct LaunchTimes {
  double begin = 0;
  double all_begun = 0;
  double end = 0;
};

/// What a run did, for tests and benchmarks.
struct EngineCounts {
  std::int64_t blocks = 0;  ///< started and ended
  std::int64_t steps = 0;   ///< instants at which something changed
};

struct EngineRun {
  double end = 0;
  std::vector<LaunchTimes> launches;
  EngineCounts counts;
  bool given_up = false;  ///< it was overdue: what ended by then has its times
};

/// Whether a simulation has taken too long; asked every few thousand steps. Empty: it may take as long as it does.
using Overdue = std::function<bool()>;

/// Block-level discrete-event simulation of one GPU among equals. Blocks that start together on one SM and have equal work are one
/// cohort. Head of line dispatch: the pending launch of the greatest priority, then the one that became ready first, places all
/// its blocks before any other places one; nothing is preempted. Deterministic. Memory is flat in blocks; time is linear in cohorts.
EngineRun simulate(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute, const CommProfile& comm,
                   const std::vector<Launch>& program, const Overdue& overdue = {});

}  // namespace elbowroom::sim
