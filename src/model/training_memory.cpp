#include "elbowroom/model/training_memory.hpp"

#include <fmt/format.h>

#include "elbowroom/base/gibibytes.hpp"

namespace elbowroom {

std::string in_words(const TrainingMemory& memory) {
  return fmt::format("{:.1f} GiB of parameters, {:.1f} of gradients, {:.1f} of the optimizer, {:.1f} of activations: {:.1f} GiB",
                     in_gibibytes(memory.parameters), in_gibibytes(memory.gradients), in_gibibytes(memory.optimizer),
                     in_gibibytes(memory.activations), in_gibibytes(memory.total()));
}

Status check_fits(const TrainingMemory& memory, Bytes room, std::string_view device) {
  if (memory.total() <= room) { return {}; }
  return invalid_input(
      fmt::format("{} on a rank, expected at most the {:.1f} GiB of {}", in_words(memory), in_gibibytes(room), device));
}

}  // namespace elbowroom
