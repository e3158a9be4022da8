#pragma once

#include <array>
#include <map>
#include <vector>

#include "backend_sim/sm_capacity.hpp"

namespace elbowroom::sim {

/// Numbers for the mixes that SMs have held so far, so that what follows from a mix is worked out once. Mix 0 is the empty one.
class MixTable {
 public:
  explicit MixTable(const SmCapacity& capacity) : capacity_(capacity) { static_cast<void>(number_of({})); }

  [[nodiscard]] const Mix& mix(int number) const { return entries_[static_cast<std::size_t>(number)].mix; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  /// The mix with `change` more blocks of the kernel.
  int with(int number, int kernel, int change) {
    // SMs in step take the same steps: one of leaving blocks, one of coming ones.
    Latest& latest = latest_[change > 0 ? 1 : 0];
    if (latest.from != number || latest.step.kernel != kernel || latest.step.change != change) {
      latest = {number, {kernel, change, step(number, kernel, change)}};
    }
    return latest.step.to;
  }
  /// More blocks of the kernel that an SM with this mix can hold.
  int room(int number, int kernel) {
    for (const Room& room : entries_[static_cast<std::size_t>(number)].rooms) {
      if (room.kernel == kernel) { return room.blocks; }
    }
    return new_room(number, kernel);
  }

 private:
  struct Step {
    int kernel = 0;
    int change = 0;
    int to = 0;
  };
  struct Latest {
    int from = -1;
    Step step;
  };
  struct Room {
    int kernel = 0;
    int blocks = 0;
  };
  struct Entry {
    Mix mix;
    std::vector<Step> steps;  ///< those taken so far: few
    std::vector<Room> rooms;
  };

  int number_of(const Mix& mix);
  int step(int number, int kernel, int change);
  int new_step(int number, int kernel, int change);
  int new_room(int number, int kernel);

  const SmCapacity& capacity_;
  std::vector<Entry> entries_;
  std::map<Mix, int> numbers_;
  std::array<Latest, 2> latest_;
};

}  // namespace elbowroom::sim
