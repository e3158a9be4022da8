#pragma once

#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom {

/// What training keeps on the rank that needs most: one of the first stage, or of the last one where that has more parameters.
struct TrainingMemory {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer;    ///< Adam's two moments and a copy in f32
  Bytes activations;  ///< of the micro-batches under way, and of a layer that is computed again

  [[nodiscard]] Bytes total() const { return parameters + gradients + optimizer + activations; }
};

/// `request` has passed the rules of transformer_step(). Parameters that ranks share along fsdp or as experts count as shares.
/// Activations are those of Korthikanti et al. 2022 (arXiv 2205.05198, equations 1 to 6); fused attention keeps no scores.
ELBOWROOM_API TrainingMemory training_memory(const TransformerStep& request);

/// "1.5 GiB of parameters, 1.5 of gradients, 9.0 of the optimizer, 3.2 of activations: 15.2 GiB".
ELBOWROOM_API std::string in_words(const TrainingMemory& memory);

}  // namespace elbowroom
