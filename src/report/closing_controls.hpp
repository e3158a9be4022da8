#pragma once

#include "elbowroom/report/run_closing.hpp"

namespace elbowroom::detail {

/// What the controls of launches did, or why they did nothing: what `auto` compared, or what another policy applied.
/// Without processes nothing is added.
void add_controls(const RunReport& report, ClosingFacts& facts);

}  // namespace elbowroom::detail
