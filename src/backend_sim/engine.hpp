#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "backend_sim/kernel_profiles.hpp"
#include "backend_sim/machine.hpp"
#include "backend_sim/sm_capacity.hpp"

namespace elbowroom::sim {

/// One kernel or copy on a lane of the device. A copy takes no SM, only memory. Indices of others refer to earlier ones of the
/// list.
struct Task {
  std::optional<int> kernel = 0;  ///< in the engine's list; absent: a copy to peers by the copy engines
  int lane = 0;                   ///< tasks of one lane follow each other; lane 0 begins at once, the others behind an event of it
  std::vector<int> after;         ///< tasks of other lanes; starts after they have ended (an event)
  std::vector<int> after_begun;   ///< starts after every block of those has begun (the launch gate)
  bool urgent = false;            ///< greatest priority
  double bytes = 0;               ///< that a copy sends; a kernel's are in its profile
  double launched = 0;            ///< when the host has launched it
  std::optional<int> meeting;     ///< the same number for the tasks of other devices that it works with; absent: it works alone
  std::optional<int> waiting;     ///< kernel that its blocks are while they wait for other devices' blocks; absent: they never do
};

/// In the order of the host; tasks of one lane are in the order in which they run.
using DeviceTasks = std::vector<Task>;

/// The time of what has not come yet, or never comes.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// From a task's first block's start to its last block's end, in microseconds.
struct TaskTimes {
  double begin = 0;
  double all_begun = 0;
  double end = 0;
};

struct EngineRun {
  double end = 0;  ///< of its last task that ended
  std::vector<TaskTimes> tasks;
  std::int64_t blocks = 0;  ///< started and ended
};

struct SimRun {
  double end = 0;  ///< the last instant at which something happened
  std::vector<EngineRun> devices;
  std::int64_t steps = 0;  ///< instants
  bool given_up = false;   ///< it was overdue: what ended by then has its times
};

/// Whether a simulation has taken too long; asked every few thousand steps. Empty: it may take as long as it does.
using Overdue = std::function<bool()>;

/// Block-level discrete-event simulation of GPUs, each of which stands for all that do the same. Blocks that start together on one
/// SM and have equal work are one cohort. Head of line dispatch. The pending task of the greatest priority, of equal ones the one
/// ready first, places all its blocks before any other places one. Nothing is preempted. Blocks of a collective of several devices
/// wait for each other (Meetings); each moves data as its own device lets it, and the slowest decides. Deterministic. Memory is
/// flat in blocks; time is linear in cohorts. `capacity` is that of `kernels`. A kernel runs on one lane only of a device.
SimRun simulate(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels,
                const std::vector<DeviceTasks>& devices, const Overdue& overdue = {});

}  // namespace elbowroom::sim
