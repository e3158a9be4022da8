#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend_sim/engine.hpp"

namespace elbowroom::sim {

/// Collectives of several devices. The blocks of each device's task are paired in the order in which they come. The first of one
/// works with the first of every other. They begin when all of them are placed, and leave when all of them are done.
class Meetings {
 public:
  /// A device's task in one.
  struct Part {
    std::size_t device = 0;
    std::size_t task = 0;
    std::int64_t placed = 0;
    std::int64_t done = 0;
  };

  explicit Meetings(const std::vector<DeviceTasks>& devices);

  /// Blocks of the part that are placed, and done, in all.
  void placed(int meeting, std::size_t device, std::int64_t blocks);
  void done(int meeting, std::size_t device, std::int64_t blocks);

  /// Calls `start(part, blocks)` for blocks that may begin now, and `leave(part, blocks)` for those that may leave.
  template <class Start>
  void start(Start start) {
    settle(&Part::placed, &Meeting::started, start);
  }
  template <class Leave>
  void leave(Leave leave) {
    settle(&Part::done, &Meeting::left, leave);
  }

 private:
  struct Meeting {
    std::vector<Part> parts;
    std::int64_t started = 0;
    std::int64_t left = 0;
  };

  Part& part(int meeting, std::size_t device);

  template <class Call>
  void settle(std::int64_t Part::* have, std::int64_t Meeting::* taken, Call call) {
    for (std::size_t at = 0; at < changed_.size(); ++at) {
      Meeting& meeting = meetings_[static_cast<std::size_t>(changed_[at])];
      std::int64_t least = meeting.parts.front().*have;
      for (const Part& one : meeting.parts) { least = std::min(least, one.*have); }
      const std::int64_t more = least - meeting.*taken;
      if (more == 0) { continue; }
      meeting.*taken = least;
      for (const Part& one : meeting.parts) { call(one, more); }
    }
    changed_.clear();
  }

  std::vector<Meeting> meetings_;
  std::vector<int> changed_;
};

}  // namespace elbowroom::sim
