#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "headroom/base/result.hpp"
#include "headroom/model/device_limits.hpp"

namespace headroom {

/// The limits of the device that is here, or why none is.
using LiveDevice = std::function<Result<DeviceLimits>()>;

/// Registers `plan` on `app`. When the command line calls it, `chosen` becomes the work to do, whose value is the exit code.
void add_plan_command(CLI::App& app, LiveDevice live_device, std::function<int()>& chosen);

}  // namespace headroom
