#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// What training keeps on the rank that needs most.
struct TrainingMemory {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer;    ///< Adam's two moments and a copy in f32
  Bytes activations;  ///< of the micro-batches under way, and of a layer that is computed again

  [[nodiscard]] Bytes total() const { return parameters + gradients + optimizer + activations; }
  bool operator==(const TrainingMemory&) const = default;
};

/// "1.5 GiB of parameters, 1.5 of gradients, 9.0 of the optimizer, 3.2 of activations: 15.2 GiB".
ELBOWROOM_API std::string in_words(const TrainingMemory& memory);

/// `invalid_input` with the sum where that is more than `room`, which is the memory of `device`.
ELBOWROOM_API Status check_fits(const TrainingMemory& memory, Bytes room, std::string_view device);

}  // namespace elbowroom
