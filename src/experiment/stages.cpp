#include "experiment/stages.hpp"

#include <algorithm>
#include <cstddef>

#include "steps/pipeline_schedule.hpp"

namespace elbowroom::detail {

// pipeline_order() has each item behind those that it waits for.
Microseconds pipeline_time(const Parallelism& parallel, const std::vector<StageTime>& stages, Microseconds send) {
  const auto chunks = static_cast<std::size_t>(steps::last_chunk(parallel)) + 1;
  const auto micro = static_cast<std::size_t>(parallel.micro);
  std::vector<Microseconds> free(stages.size());
  std::vector<Microseconds> forward(chunks * micro);  // ends, by chunk of the model and micro-batch
  std::vector<Microseconds> backward(chunks * micro);
  Microseconds last{0};
  for (const steps::PipelineItem& item : steps::pipeline_order(parallel)) {
    const auto stage = static_cast<std::size_t>(item.stage);
    const auto here = static_cast<std::size_t>(steps::chunk_in_model(parallel, item));
    const std::size_t slot = here * micro + static_cast<std::size_t>(item.micro);
    const bool turns = item.backward && here + 1 == chunks;
    Microseconds arrived{0};
    if (turns) {
      arrived = forward[slot];
    } else if (item.backward) {
      arrived = backward[slot + micro] + send;
    } else if (here > 0) {
      arrived = forward[slot - micro] + send;
    }
    const Microseconds end = std::max(free[stage], arrived) +
                             (item.backward ? stages[stage].backward : stages[stage].forward) / steps::chunks_of(parallel);
    (item.backward ? backward : forward)[slot] = end;
    free[stage] = stages.size() > 1 ? end + send : end;
    last = std::max(last, end);
  }
  return last;
}

}  // namespace elbowroom::detail
