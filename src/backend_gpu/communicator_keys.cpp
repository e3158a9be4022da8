#include "backend_gpu/communicator_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/plan/launch_settings.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom::gpu {

std::vector<int> comm_lanes_of(const Program& program) {
  std::vector<int> lanes(program.lanes.size(), -1);
  int next = 0;
  for (const Launch& launch : program.launches) {
    int& lane = lanes[static_cast<std::size_t>(launch.lane)];
    if (lane < 0 && std::holds_alternative<CommSettings>(launch.settings)) { lane = next++; }
  }
  return lanes;
}

std::vector<CommBudget> budgets_of(CollectiveOp op, const CommSettings& settings) {
  const bool kernels_too = facts_of(op).adds_before_copies();
  std::vector<CommBudget> budgets;
  // What the library may not do by its own judgement is not done past it: a detour asks for its copies too.
  if (!settings.peer_detour && (!settings.copy_engine || kernels_too)) {
    budgets.push_back({settings.comm_blocks, settings.cluster, false, settings.symmetric});
  }
  if (settings.copy_engine || settings.peer_detour) { budgets.push_back(CommBudget::of_copy_engines()); }
  return budgets;
}

std::vector<CommKey> communicator_keys(const Step& step, const Program& program) {
  const std::vector<int> lanes = comm_lanes_of(program);
  std::vector<CommKey> keys;
  for (const Launch& launch : program.launches) {
    const auto* const settings = std::get_if<CommSettings>(&launch.settings);
    if (settings == nullptr) { continue; }
    const Operation& operation = step.operations[static_cast<std::size_t>(launch.operation)];
    for (const std::vector<int>& ranks : communicators_of(step, operation)) {
      for (const CommBudget& budget : budgets_of(communication_of(step, operation)->collective.op, *settings)) {
        CommKey key{ranks, lanes[static_cast<std::size_t>(launch.lane)], budget};
        if (std::ranges::find(keys, key) == keys.end()) { keys.push_back(std::move(key)); }
      }
    }
  }
  return keys;
}

}  // namespace elbowroom::gpu
