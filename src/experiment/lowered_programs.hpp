#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom {

/// Programs of one case by what they were lowered from. They take some hundred megabytes at most: before they would take more, all
/// are dropped.
class LoweredPrograms {
 public:
  /// Null where there is none. Pointers hold until the next keep().
  [[nodiscard]] const Program* find(Order order, const OverlapPlan& plan) const {
    const auto known = programs_.find({order, plan});
    return known == programs_.end() ? nullptr : &known->second;
  }

  const Program* keep(Order order, const OverlapPlan& plan, Program program) {
    if (launches_ + program.launches.size() > kMostLaunches) {
      programs_.clear();
      launches_ = 0;
    }
    launches_ += program.launches.size();
    return &programs_.emplace(std::pair(order, plan), std::move(program)).first->second;
  }

 private:
  static constexpr std::size_t kMostLaunches = 1 << 20;

  std::map<std::pair<Order, OverlapPlan>, Program> programs_;
  std::size_t launches_ = 0;
};

}  // namespace elbowroom
