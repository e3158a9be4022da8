#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/training_memory.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom {

/// Of one of the first stage, or of the last one where that has more parameters. `request` has passed the rules of
/// transformer_step(). Parameters that ranks share along fsdp or as experts count as shares. Activations are those of Korthikanti
/// et al. 2022 (arXiv 2205.05198, equations 1 to 6); fused attention keeps no scores.
ELBOWROOM_API TrainingMemory training_memory(const TransformerStep& request);

}  // namespace elbowroom
