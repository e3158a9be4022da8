#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/model/step.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom::steps {

/// Operations of the step that something waits for.
using Ends = std::vector<int>;

Ends joined(Ends some, const Ends& others);

using Axes = std::vector<std::string_view>;

/// C[m,n] = A[m,k] B[k,n] by a library.
Compute product(std::int64_t m, std::int64_t n, std::int64_t k);

/// A kernel that reads `bytes` and writes as many.
Compute pass(std::int64_t bytes, ElementwiseOp op = ElementwiseOp::copy);

/// Adds operations to a step, in an order that respects what they wait for.
class StepWriter {
 public:
  StepWriter(std::string name, const Parallelism& parallel, int repeats);

  /// What follows takes place on that stage, where there are several, and its names begin with `prefix`.
  void at(int stage, std::string prefix);

  /// What follows takes place on the ranks with those experts only; absent: on all.
  void at_experts(std::optional<int> rank) { experts_ = rank; }

  /// Ranks along the axes; an axis that the mesh lacks counts one.
  [[nodiscard]] int ranks_along(const Axes& axes) const;

  /// The host takes so long before it launches each of what follows.
  void launched_by_host(Microseconds gap) { host_gap_ = gap; }

  int compute(std::string_view name, Compute kernel, const Ends& after, std::optional<std::string> lane = {});

  /// Buffers are rounded up to what the ranks can share, as libraries pad them. At least two ranks are along the axes.
  int collective(const std::string& name, CollectiveOp op, Bytes bytes, DataType dtype, const Axes& axes, const Ends& after);

  /// From one stage to another.
  int transfer(const std::string& name, Bytes bytes, int from, int to, const std::string& lane, const Ends& after);

  /// `operation` also waits for what `before` did in the repeat before.
  void wait_for_previous(int operation, int before) { operation_at(operation).after.push_back({before, true}); }

  [[nodiscard]] int operations() const { return static_cast<int>(step_.operations.size()); }

  /// With one kind of communicator the usual lane is enough.
  Step finished();

 private:
  int add(std::string_view name, Work what, const Ends& after);
  [[nodiscard]] std::vector<int> numbers_of(const Axes& axes) const;
  Operation& operation_at(int at) { return step_.operations[static_cast<std::size_t>(at)]; }

  Step step_;
  int stage_ = 0;
  std::optional<int> experts_;
  std::string prefix_;
  Microseconds host_gap_{0};
};

}  // namespace elbowroom::steps
