#include "plan/launch_order.hpp"

#include <algorithm>
#include <utility>

#include "elbowroom/plan/program.hpp"

namespace elbowroom::detail {

LaunchOrder::LaunchOrder(const Step& step, const Program& program, const RankClasses& classes)
    : lanes_(static_cast<int>(program.lanes.size())),
      classes_(classes.count),
      nodes_(nodes_of(program, classes)),
      of_launch_(program.launches.size()),
      chains_(program.lanes.size() * static_cast<std::size_t>(classes.count)),
      positions_(nodes_.size()) {
  for (const Launch& launch : program.launches) {
    computes_.push_back(computes(step.operations[static_cast<std::size_t>(launch.operation)]));
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const auto launch = static_cast<std::size_t>(nodes_[node].launch);
    of_launch_[launch].push_back(static_cast<int>(node));
    for (const int one : nodes_[node].classes) {
      const std::size_t chain = chain_of(program.launches[launch].lane, one);
      positions_[node].emplace_back(chain, static_cast<int>(chains_[chain].nodes.size()));
      chains_[chain].nodes.push_back(static_cast<int>(node));
    }
  }
  find_before();
  find_behind();
}

void LaunchOrder::find_before() {
  before_.assign(nodes_.size() * chains_.size(), 0);
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
    for (const int earlier : nodes_[static_cast<std::size_t>(node)].after) {
      for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
        before_[at(node, chain)] = std::max(before_[at(node, chain)], before_[at(earlier, chain)]);
      }
      for (const auto& [chain, position] : positions_[static_cast<std::size_t>(earlier)]) {
        before_[at(node, chain)] = std::max(before_[at(node, chain)], position + 1);
      }
    }
  }
}

void LaunchOrder::find_behind() {
  behind_.resize(nodes_.size() * chains_.size());
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
      behind_[node * chains_.size() + chain] = static_cast<int>(chains_[chain].nodes.size());
    }
  }
  for (int node = static_cast<int>(nodes_.size()) - 1; node >= 0; --node) {
    for (const int earlier : nodes_[static_cast<std::size_t>(node)].after) {
      for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
        behind_[at(earlier, chain)] = std::min(behind_[at(earlier, chain)], behind_[at(node, chain)]);
      }
      for (const auto& [chain, position] : positions_[static_cast<std::size_t>(node)]) {
        behind_[at(earlier, chain)] = std::min(behind_[at(earlier, chain)], position);
      }
    }
  }
}

bool LaunchOrder::meets_other_side(int launch) const {
  const bool side = computes_[static_cast<std::size_t>(launch)];
  for (const int node : of_launch_[static_cast<std::size_t>(launch)]) {
    for (const int one : nodes_[static_cast<std::size_t>(node)].classes) {
      for (int lane = 0; lane < lanes_; ++lane) {
        const std::size_t chain = chain_of(lane, one);
        for (int position = before_[at(node, chain)]; position < behind_[at(node, chain)]; ++position) {
          const int other = chains_[chain].nodes[static_cast<std::size_t>(position)];
          if (computes_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(other)].launch)] != side) { return true; }
        }
      }
    }
  }
  return false;
}

std::vector<int> LaunchOrder::next_computations_beside(int launch) const {
  std::vector<int> found;
  for (const int node : of_launch_[static_cast<std::size_t>(launch)]) {
    for (const int one : nodes_[static_cast<std::size_t>(node)].classes) {
      for (int lane = 0; lane < lanes_; ++lane) {
        const std::size_t chain = chain_of(lane, one);
        for (int position = before_[at(node, chain)]; position < behind_[at(node, chain)]; ++position) {
          const int other = nodes_[static_cast<std::size_t>(chains_[chain].nodes[static_cast<std::size_t>(position)])].launch;
          if (other < launch || !computes_[static_cast<std::size_t>(other)]) { continue; }
          found.push_back(other);
          break;
        }
      }
    }
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace elbowroom::detail
