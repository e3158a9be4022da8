#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

struct LiveMachine {
  DeviceLimits device;
  std::optional<CommRelease> comm;  ///< absent: there is no NCCL
};

/// The device that is here and its communication library, or that there is none.
using LiveDevice = std::function<Result<LiveMachine>()>;

/// Registers `plan` on `app`. When the command line calls it, `chosen` becomes the work to do, whose value is the exit code.
void add_plan_command(CLI::App& app, LiveDevice live_device, std::function<int()>& chosen);

}  // namespace elbowroom
