#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steps/gradient.hpp"
#include "steps/step_writer.hpp"

namespace elbowroom::steps {

/// A layer, or one end of the model, whose parameters are gathered together.
struct ShardedUnit {
  std::string name;
  std::int64_t parameters = 0;  ///< of this rank's part of the matrices, before they are sharded
  std::int64_t of_experts = 0;  ///< and of its experts
};

/// Replicas hold a share of the parameters each. A unit is gathered while the one before it computes, forward and backward, and
/// its gradients are scattered behind its last backward pass. On stages of a pipeline, units stay gathered for the whole step.
class FullySharded {
 public:
  FullySharded(StepWriter& writer, const TransformerStep& request) : writer_(writer), request_(request) {}

  /// What the unit's pass waits for. `after`: the pass that frees the room.
  Ends gather(const ShardedUnit& unit, const std::string& prefix, int stage, const Ends& after);
  /// Behind the gather and before the pass: each tensor gets its memory.
  Ends copied_out(const ShardedUnit& unit, const std::string& pass_name, const Ends& gathered);
  /// With `backward`, what the unit's last backward pass made.
  void scatter(const ShardedUnit& unit, int stage, const std::vector<Gradient>& gradients);
  std::vector<Updated> finished() { return std::move(updated_); }

 private:
  void scatter(const std::string& name, int stage, const std::vector<Gradient>& gradients, const Axes& axes, const Ends& gathers);
  std::vector<Gradient> copied_in(const std::string& name, const std::vector<Gradient>& gradients);
  int gather(const std::string& name, std::int64_t parameters, const Axes& axes, Ends after);

  StepWriter& writer_;
  const TransformerStep& request_;
  /// By unit, of the dense part and of the experts.
  std::map<std::string, Ends> dense_gathers_;
  std::map<std::string, Ends> expert_gathers_;
  std::vector<Updated> updated_;
};

}  // namespace elbowroom::steps
