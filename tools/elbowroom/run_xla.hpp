#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "preload/controls.hpp"
#include "preload/variables.hpp"

namespace elbowroom {

/// What --set xla_symmetric_buffers=1 adds to the environment of a command: XLA_FLAGS. The setting of NCCL that goes with it is
/// added to `controls`. Nothing where the user's XLA_FLAGS name a flag for it. The command's Python is asked for JAX's plugins, and
/// their libraries are searched for the flag: some 0.5 s. `invalid_input` in one line where there is none, or NCCL may use NVLink
/// multicast.
Result<preload::Variables> xla_environment(const std::vector<std::string>& command, const preload::Variables& environment,
                                           preload::Controls& controls);

}  // namespace elbowroom
