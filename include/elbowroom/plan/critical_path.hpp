#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

/// The schedule's length with each operation at its isolated time. A yardstick and no limit: a better transport beats it.
/// `compute` and `comm` are the isolated totals over all `iterations` (at least 1), each iteration taking an equal share.
/// A pipeline cannot hide the last collective (compute-bound) or the first compute (communication-bound); a pair hides the
/// shorter side entirely.
ELBOWROOM_API Microseconds critical_path(Pattern pattern, int iterations, Microseconds compute, Microseconds comm);

}  // namespace elbowroom
