#pragma once

#include <utility>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/network/machine.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom {

/// Times of kernels that have a GPU of a backend to themselves. Each kernel runs once.
class ELBOWROOM_API KernelTimes {
 public:
  /// `backend` outlives this.
  explicit KernelTimes(Backend& backend) : backend_(backend) {}

  /// Of one launch behind others of the same stream.
  Result<Microseconds> of(const Compute& kernel);

 private:
  Backend& backend_;
  std::vector<std::pair<Compute, Microseconds>> known_;
};

/// A training iteration by what takes its time, on the stage that is the last to end.
struct IterationTime {
  Microseconds pipeline{0};   ///< all micro-batches forward and backward, with what stages and sharing ranks send
  Microseconds gradients{0};  ///< added among replicas, and among the two stages that hold the embedding
  Microseconds optimizer{0};

  [[nodiscard]] Microseconds total() const { return pipeline + gradients + optimizer; }
};

/// One iteration of `request` on ranks that are numbered as its step's (transformer_step()), one behind the other on hosts of
/// `machine`: equal stages, layers and micro-batches are timed once. Kernels take what they take alone, collectives what they take
/// beside nothing; the pass of a layer is as long as its kernels or as the host that launches them, whichever is longer. Gradients
/// are added when all are made. `invalid_input` for what this does not describe: experts, sharded parameters, compression,
/// interleaved stages, micro-batches in pairs.
ELBOWROOM_API Result<IterationTime> iteration_time(const TransformerStep& request, const MachineSpec& machine,
                                                   KernelTimes& kernels);

}  // namespace elbowroom
