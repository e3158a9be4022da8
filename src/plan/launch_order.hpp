#pragma once

#include <vector>

#include "elbowroom/model/step.hpp"
#include "plan/program_nodes.hpp"

namespace elbowroom::detail {

/// Which launches of a program may run at the same time on one rank: those that neither lanes nor edges order. Gates order nothing
/// here.
class LaunchOrder {
 public:
  LaunchOrder(const Step& step, const Program& program, const RankClasses& classes);

  /// Whether a computation may run beside this communication, or a communication beside this computation.
  [[nodiscard]] bool meets_other_side(int launch) const;

  /// Of each lane the first computation that is launched after this communication and may run beside it.
  [[nodiscard]] std::vector<int> next_computations_beside(int launch) const;

 private:
  /// What one lane of one class of ranks runs, in order.
  struct Chain {
    std::vector<int> nodes;
  };

  [[nodiscard]] std::size_t chain_of(int lane, int one) const { return slot_of(lane, one, classes_); }
  [[nodiscard]] std::size_t at(int node, std::size_t chain) const {
    return static_cast<std::size_t>(node) * chains_.size() + chain;
  }
  void find_before();
  void find_behind();

  int lanes_;
  int classes_;
  std::vector<ProgramNode> nodes_;
  std::vector<std::vector<int>> of_launch_;  ///< nodes
  std::vector<bool> computes_;               ///< by launch
  std::vector<Chain> chains_;
  std::vector<std::vector<std::pair<std::size_t, int>>> positions_;  ///< by node: its chains and its position there
  // By node and chain, as at() says.
  std::vector<int> before_;  ///< how many of the chain end before the node begins
  std::vector<int> behind_;  ///< how many begin before the node's end
};

}  // namespace elbowroom::detail
