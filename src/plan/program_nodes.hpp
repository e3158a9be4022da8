#pragma once

#include <cstddef>
#include <vector>

#include "elbowroom/model/rank_classes.hpp"

namespace elbowroom {

struct Program;

}  // namespace elbowroom

namespace elbowroom::detail {

/// A launch on the classes of ranks that run it together. What its classes have in common with another node's orders the two.
struct ProgramNode {
  int launch = 0;
  std::vector<int> classes;
  std::vector<int> after;        ///< nodes, what stands before it on its lane included
  std::vector<int> after_begun;  ///< nodes
};

/// In the order of the launches, so that every node follows those it waits for.
std::vector<ProgramNode> nodes_of(const Program& program, const RankClasses& classes);

/// Classes of ranks of one node are among the other's: the two are ordered where one waits for the other.
bool share_class(const std::vector<int>& some, const std::vector<int>& others);

/// Where a lane of one class stands among the lanes of `classes` classes.
inline std::size_t slot_of(int lane, int one, int classes) {
  return static_cast<std::size_t>(lane) * static_cast<std::size_t>(classes) + static_cast<std::size_t>(one);
}

}  // namespace elbowroom::detail
