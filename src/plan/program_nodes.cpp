#include "plan/program_nodes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace elbowroom::detail {
namespace {

bool meet(const std::vector<int>& some, const std::vector<int>& others) {
  return std::ranges::any_of(some, [&](int one) { return std::ranges::find(others, one) != others.end(); });
}

/// Lists that share a member become one, each in ascending order.
std::vector<std::vector<int>> joined(const std::vector<std::vector<int>>& lists) {
  std::vector<std::vector<int>> made;
  for (std::vector<int> list : lists) {
    for (std::vector<int>& other : made) {
      if (!meet(list, other)) continue;
      list.insert(list.end(), other.begin(), other.end());
      other.clear();
    }
    std::ranges::sort(list);
    list.erase(std::ranges::unique(list).begin(), list.end());
    std::erase_if(made, [](const std::vector<int>& other) { return other.empty(); });
    made.push_back(std::move(list));
  }
  return made;
}

}  // namespace

RankClasses rank_classes(const Step& step) {
  // By rank the operations that it runs; alike: one class.
  std::vector<std::vector<int>> runs(static_cast<std::size_t>(step.ranks));
  std::vector<std::vector<std::vector<int>>> communicators;
  for (std::size_t at = 0; at < step.operations.size(); ++at) {
    communicators.push_back(communicators_of(step, step.operations[at]));
    for (const std::vector<int>& ranks : communicators.back()) {
      for (const int rank : ranks) runs[static_cast<std::size_t>(rank)].push_back(static_cast<int>(at));
    }
  }
  std::map<std::vector<int>, int> numbers;
  std::vector<int> class_of;
  for (const std::vector<int>& operations : runs) {
    class_of.push_back(numbers.emplace(operations, static_cast<int>(numbers.size())).first->second);
  }
  RankClasses classes;
  classes.count = static_cast<int>(numbers.size());
  for (std::size_t at = 0; at < step.operations.size(); ++at) {
    std::vector<std::vector<int>> together;
    for (const std::vector<int>& ranks : communicators[at]) {
      std::vector<int> of_ranks;
      for (const int rank : ranks) of_ranks.push_back(class_of[static_cast<std::size_t>(rank)]);
      std::ranges::sort(of_ranks);
      of_ranks.erase(std::ranges::unique(of_ranks).begin(), of_ranks.end());
      if (!computes(step.operations[at])) {
        together.push_back(std::move(of_ranks));
        continue;
      }
      for (const int one : of_ranks) together.push_back({one});
    }
    classes.of_operation.push_back(joined(together));
  }
  return classes;
}

std::vector<ProgramNode> nodes_of(const Program& program, const RankClasses& classes) {
  std::vector<ProgramNode> nodes;
  std::vector<std::vector<int>> of_launch(program.launches.size());
  // By lane and class the latest node.
  std::vector<int> latest(program.lanes.size() * static_cast<std::size_t>(classes.count), -1);
  const auto add = [&](std::vector<int>& to, int launch, const std::vector<int>& at) {
    for (const int other : of_launch[static_cast<std::size_t>(launch)]) {
      if (meet(nodes[static_cast<std::size_t>(other)].classes, at)) to.push_back(other);
    }
  };
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    const Launch& launch = program.launches[at];
    for (const std::vector<int>& together : classes.of_operation[static_cast<std::size_t>(launch.operation)]) {
      ProgramNode node{static_cast<int>(at), together, {}, {}};
      for (const int one : together) {
        int& before = latest[static_cast<std::size_t>(launch.lane * classes.count + one)];
        if (before >= 0) node.after.push_back(before);
        before = static_cast<int>(nodes.size());
      }
      for (const int before : launch.after) add(node.after, before, together);
      for (const int before : launch.after_begun) add(node.after_begun, before, together);
      of_launch[at].push_back(static_cast<int>(nodes.size()));
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

}  // namespace elbowroom::detail
