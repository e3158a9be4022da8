#pragma once

#include "headroom/base/quantities.hpp"
#include "headroom/model/scenario.hpp"

namespace headroom::sim {

/// Device memory of the operands, results and buffers that a backend allocates on each GPU. `scenario` is valid.
Bytes memory_per_device(const Scenario& scenario);

}  // namespace headroom::sim
