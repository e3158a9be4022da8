#pragma once

#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

/// The scenario in one line for headings and progress:
/// "gelu-ar: 2 GPUs, 8 iterations, pipeline; elementwise gelu f32 4G; all_reduce bf16 512M, 8 comm blocks"
ELBOWROOM_API std::string scenario_line(const Scenario& scenario);

}  // namespace elbowroom
