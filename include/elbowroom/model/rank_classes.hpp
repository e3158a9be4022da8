#pragma once

#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom {

/// Ranks that do the same at the same time: one of each class stands for all. Ranks of a class take part in the same operations,
/// and what they communicate with is of the same classes.
struct RankClasses {
  int count = 0;
  std::vector<int> of_rank;  ///< numbered in the order of their first ranks
  /// By operation: classes that run it, those in one list together because a communicator joins them. A class is in one list.
  std::vector<std::vector<std::vector<int>>> of_operation;
};

/// `step` is valid. Takes time in proportion to ranks and operations for each step of a chain along which ranks tell themselves
/// apart. Ranks of each list in `apart` are of classes of their own, by which others are then told apart too.
ELBOWROOM_API RankClasses rank_classes(const Step& step, const std::vector<std::vector<int>>& apart = {});

}  // namespace elbowroom
