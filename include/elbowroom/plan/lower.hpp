#pragma once

#include <compare>
#include <map>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom {

enum class Order;
struct Program;
struct Step;

/// The plan of every operation of a step: of computations the controls of computations act, of collectives those of collectives.
struct StepPlan {
  StepPlan() = default;
  StepPlan(OverlapPlan everywhere) : usual(everywhere) {}

  OverlapPlan usual;               ///< of operations without one of their own
  std::map<int, OverlapPlan> own;  ///< by operation

  [[nodiscard]] const OverlapPlan& of(int operation) const {
    const auto found = own.find(operation);
    return found == own.end() ? usual : found->second;
  }

  auto operator<=>(const StepPlan&) const = default;
};

/// The schedule of a step: the one place that knows orders, overlap windows and the launch gate. `step` is valid. A plan's gate
/// lets the next launch of each compute lane that can run beside a collective wait until that has begun. A plan that acts in
/// overlap windows only (`windows_only`) leaves launches alone that nothing of the other side can run beside. They have no control
/// but the threads of collectives, which a process cannot change. `invalid_input` for such a plan where all launches are in
/// windows, or none is. Takes time in proportion to launches and lanes.
ELBOWROOM_API Result<Program> lower(const Step& step, Order order, const StepPlan& plan);

/// Whether a plan can tell overlap windows of the step from what is outside; otherwise `invalid_input` says what its launches are.
ELBOWROOM_API Status windows_possible(const Step& step);

/// Whether a launch gate has a computation that could wait; otherwise `invalid_input` says why none could.
ELBOWROOM_API Status gate_possible(const Step& step);

}  // namespace elbowroom
