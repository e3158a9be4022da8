#include "backend_sim/mix_table.hpp"

namespace elbowroom::sim {

int MixTable::number_of(const Mix& mix) {
  const auto [found, added] = numbers_.emplace(mix, static_cast<int>(entries_.size()));
  if (added) { entries_.push_back({mix, {}, {}}); }
  return found->second;
}

int MixTable::step(int number, int kernel, int change) {
  for (const Step& step : entries_[static_cast<std::size_t>(number)].steps) {
    if (step.kernel == kernel && step.change == change) { return step.to; }
  }
  return new_step(number, kernel, change);
}

int MixTable::new_step(int number, int kernel, int change) {
  const auto from = static_cast<std::size_t>(number);
  const int to = number_of(sim::with(entries_[from].mix, kernel, change));
  entries_[from].steps.push_back({kernel, change, to});
  return to;
}

int MixTable::new_room(int number, int kernel) {
  Entry& entry = entries_[static_cast<std::size_t>(number)];
  entry.rooms.push_back({kernel, capacity_.room(entry.mix, kernel)});
  return entry.rooms.back().blocks;
}

}  // namespace elbowroom::sim
