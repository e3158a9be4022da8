#pragma once

#include "explain/intervals.hpp"
#include "explain/trace.hpp"

namespace elbowroom::explain {

/// The share of the greatest SM clock that the power limit took while `time` passed, from the readings within it and the last one
/// before; 0 where the trace has none that near.
double below_most_clock(const Trace& trace, Interval time);

}  // namespace elbowroom::explain
