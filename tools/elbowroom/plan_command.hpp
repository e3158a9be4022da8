#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// The limits of the device that is here, or why none is.
using LiveDevice = std::function<Result<DeviceLimits>()>;

/// Registers `plan` on `app`. When the command line calls it, `chosen` becomes the work to do, whose value is the exit code.
void add_plan_command(CLI::App& app, LiveDevice live_device, std::function<int()>& chosen);

}  // namespace elbowroom
