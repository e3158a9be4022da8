#pragma once

#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/case.hpp"

namespace elbowroom {

/// The scenario in one line for headings and progress:
/// "gelu-ar: 2 GPUs, 8 iterations, pipeline; elementwise gelu f32 4G; all_reduce bf16 512M, 8 comm blocks"
ELBOWROOM_API std::string scenario_line(const Scenario& scenario);

/// The same of a step: "mine: 8 ranks (dp=2, tp=4), 1 repeat; 1204 operations, 260 of them communicate"
ELBOWROOM_API std::string step_line(const Step& step);

ELBOWROOM_API std::string case_line(const Case& what);

}  // namespace elbowroom
