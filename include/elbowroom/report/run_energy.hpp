#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/energy/history.hpp"
#include "elbowroom/energy/joules.hpp"
#include "elbowroom/energy/watch.hpp"

namespace elbowroom {

struct ProcessReport;

/// What a run's GPUs took for one step of its program, and what that rests on. A step is one repetition of the sequence of
/// collectives that a process repeats.
struct RunEnergy {
  struct Gpu {
    std::string bus_id;
    std::optional<Joules> joules;  ///< of a step; absent: nothing was read
    GpuConditions conditions;      ///< in the span
    int own_processes = 0;         ///< of the run, that reported it
  };
  /// Of one step, all GPUs of the run together, or why there are none.
  Result<JoulesPerIteration> per_step = unavailable("nothing was measured");
  std::optional<std::string> counter;  ///< "nvml"; absent: none was read
  std::optional<Microseconds> period;  ///< from one move of the counter to the next; absent: not known
  Microseconds span{0};                ///< from the first counted step's begin to the last one's end
  std::int64_t steps = 0;              ///< in it
  std::int64_t collectives_per_step = 0;
  std::int64_t counted_by = 0;  ///< the process whose steps these are
  /// What the GPUs would have taken in a step's time before the command used any; part of the joules. Or why that is not known.
  Result<Joules> idle = unavailable("nothing was measured");
  std::vector<Gpu> gpus;           ///< that processes of the run named, by their places on the bus
  std::vector<std::string> notes;  ///< what makes the joules mean something else, a line each
};

/// Of the processes of a run and what a watch saw from before their first call of a driver until after their last step. The steps
/// are those of the process whose stretch lasted longest.
ELBOWROOM_API RunEnergy energy_of_run(std::span<const ProcessReport> processes, const Result<std::vector<WatchedGpu>>& watched);

/// "energy: 812.3 J a step (801.1..823.5), 2 GPUs, ..." or why there is none; one line.
ELBOWROOM_API std::string in_words(const RunEnergy& energy);

}  // namespace elbowroom
