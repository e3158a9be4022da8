#pragma once

#include <string>

#include "headroom/base/export.hpp"
#include "headroom/model/scenario.hpp"

namespace headroom {

/// The scenario in one line for headings and progress:
/// "gelu-ar: 2 GPUs, 8 iterations, pipeline; elementwise gelu f32 4G; all_reduce bf16 512M, 8 comm blocks"
HEADROOM_API std::string scenario_line(const Scenario& scenario);

}  // namespace headroom
