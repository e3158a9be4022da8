#pragma once

#include <vector>

#include "elbowroom/base/time.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom::detail {

/// What a micro-batch takes on one stage of a pipeline.
struct StageTime {
  Microseconds forward{0};
  Microseconds backward{0};
};

/// From the first item of any stage to the end of the last one, each stage with its items in the order that the schedule says. A
/// stage sends for `send` before its next item, and the next stage's begins behind that.
Microseconds pipeline_time(const Parallelism& parallel, const std::vector<StageTime>& stages, Microseconds send);

}  // namespace elbowroom::detail
