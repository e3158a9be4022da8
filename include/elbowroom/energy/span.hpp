#pragma once

#include <optional>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

/// How long energy is measured.
struct EnergySpans {
  Microseconds span{0};       ///< of one scheme
  Microseconds warm_up{0};    ///< its runs before
  Microseconds cool_down{0};  ///< with nothing running, before those and before `idle`
  Microseconds idle{0};       ///< with nothing running, once a case
  Microseconds sampling{0};   ///< from one reading to the next
};

/// For a counter of that period: `asked`, or spans of 300 periods and at least a second. Their ends are then off by 1/300 of
/// them. `invalid_input` where `asked` holds fewer updates than joules_per_iteration() takes.
ELBOWROOM_API Result<EnergySpans> plan_spans(Microseconds period, std::optional<Microseconds> asked);

}  // namespace elbowroom
