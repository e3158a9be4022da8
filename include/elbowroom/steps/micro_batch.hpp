#pragma once

#include <cstdint>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom {

/// Operations of one part of a model, on one rank and for one micro-batch, in the order in which they run.
struct PartWork {
  std::vector<Operation> forward;
  std::vector<Operation> backward;  ///< what is computed again among them
  std::int64_t parameters = 0;      ///< of this rank
};

/// One micro-batch by parts of the model. Collectives are those among the ranks that share matrices.
struct MicroBatch {
  PartWork embedding;
  PartWork layer;
  PartWork head;      ///< its matrix is the embedding's where the model ties them, and then counts there alone
  Bytes activations;  ///< that a stage sends to the next one
};

/// What each stage of a pipeline does over and over, however many layers, micro-batches and replicas there are. Refuses as
/// transformer_step() does, but for the length of a document and what replicas and stages have to divide.
ELBOWROOM_API Result<MicroBatch> micro_batch_of(const TransformerStep& request);

}  // namespace elbowroom
