#include "plan/program_nodes.hpp"

#include <algorithm>
#include <utility>

#include "elbowroom/plan/program.hpp"

namespace elbowroom::detail {

bool share_class(const std::vector<int>& some, const std::vector<int>& others) {
  return std::ranges::any_of(some, [&](int one) { return std::ranges::find(others, one) != others.end(); });
}

std::vector<ProgramNode> nodes_of(const Program& program, const RankClasses& classes) {
  std::vector<ProgramNode> nodes;
  std::vector<std::vector<int>> of_launch(program.launches.size());
  // By lane and class the latest node.
  std::vector<int> latest(program.lanes.size() * static_cast<std::size_t>(classes.count), -1);
  const auto add = [&](std::vector<int>& to, int launch, const std::vector<int>& at) {
    for (const int other : of_launch[static_cast<std::size_t>(launch)]) {
      if (share_class(nodes[static_cast<std::size_t>(other)].classes, at)) { to.push_back(other); }
    }
  };
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    const Launch& launch = program.launches[at];
    for (const std::vector<int>& together : classes.of_operation[static_cast<std::size_t>(launch.operation)]) {
      ProgramNode node{static_cast<int>(at), together, {}, {}};
      for (const int one : together) {
        int& before = latest[slot_of(launch.lane, one, classes.count)];
        if (before >= 0) { node.after.push_back(before); }
        before = static_cast<int>(nodes.size());
      }
      for (const int before : launch.after) { add(node.after, before, together); }
      for (const int before : launch.after_begun) { add(node.after_begun, before, together); }
      of_launch[at].push_back(static_cast<int>(nodes.size()));
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

}  // namespace elbowroom::detail
