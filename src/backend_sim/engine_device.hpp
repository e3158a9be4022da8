#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend_sim/copies.hpp"
#include "backend_sim/engine.hpp"
#include "backend_sim/meetings.hpp"
#include "backend_sim/sm_history.hpp"
#include "backend_sim/sm_replay.hpp"

namespace elbowroom::sim {

/// One device in a simulation: its lanes, its SMs and its copies. What it refers to outlives it.
class EngineDevice {
 public:
  /// `number`: among the devices of the meetings.
  EngineDevice(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels,
               const std::vector<Task>& tasks, std::size_t number, Meetings& meetings, SmHistory& history);

  /// When something happens next if no other device does anything; infinity: nothing does.
  [[nodiscard]] double next() const;

  // The parts of one instant, in this order; between them the meetings are settled.

  /// Moves time to `now`, which is not beyond next(), and ends what ends there.
  void advance(double now);
  /// Hands what is ready to the dispatcher and places blocks.
  void dispatch();
  /// Must follow all changes of an instant.
  void settle();

  /// So many blocks of the task begin to work, or leave: those of the other devices are there, or done.
  void start(std::size_t task, std::int64_t count);
  void leave(std::size_t task, std::int64_t count);

  /// What the device has done so far; its end is that of the latest instant at which it did something.
  [[nodiscard]] EngineRun& run() { return run_; }

 private:
  struct Lane {
    std::vector<std::size_t> tasks;
    std::size_t head = 0;                ///< in tasks: the one that runs or comes next
    bool running = false;                ///< on the SMs, or copying
    std::int64_t blocks = 0;             ///< of the one that runs, still to end
    std::optional<double> previous_end;  ///< of the task before; absent: there is none
  };

  Lane& lane_of(const Task& task) { return lanes_[static_cast<std::size_t>(task.lane)]; }
  [[nodiscard]] const TaskTimes& times_of(int task) const { return run_.tasks[static_cast<std::size_t>(task)]; }
  [[nodiscard]] double ready_at(const Lane& lane) const;
  /// Must follow what changes when heads of lanes may start: what begins, has begun or ends.
  void find_ready();
  void make_ready();
  void begin_copy(std::size_t task);
  void end_blocks(const EndedBlocks& ended);
  void end_copies();
  void end_task(std::size_t task);

  const Machine& machine_;
  const std::vector<Task>& tasks_;
  std::size_t number_;
  Meetings& meetings_;
  const std::vector<SimKernel>& kernels_;
  SmReplay sms_;
  std::vector<Lane> lanes_;
  Copies copies_;
  double now_ = 0;
  double ready_ = 0;           ///< when the first head of a lane may start
  bool lanes_changed_ = true;  ///< since ready_ was found
  EngineRun run_;
};

}  // namespace elbowroom::sim
