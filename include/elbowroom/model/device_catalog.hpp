#pragma once

#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// The devices whose limits are known without one being present: the files of data/devices, by vendor and architecture.
/// Where a live device is at hand its own answers go first: a partitioned or cut-down card has fewer SMs.
ELBOWROOM_API std::span<const DeviceLimits> device_catalog();

/// Whether people or the driver call the device so: "h100", "H100 SXM", "NVIDIA H100 80GB HBM3".
ELBOWROOM_API bool is_named(const DeviceLimits& device, std::string_view name);

/// The entry that is named so. `invalid_input` names every valid name and the nearest.
ELBOWROOM_API Result<DeviceLimits> find_device(std::string_view name);

/// The catalog's name for a device that is there. It is the entry that the driver's name names, or whose name is a word of it,
/// and whose architecture and SMs are the same: cut-down cards and partitions bear the same word. Otherwise the architecture, so
/// that figures of an unlisted device are never filed under a listed one. Of `live` count architecture and SMs.
ELBOWROOM_API std::string catalog_name(std::string_view driver_name, const DeviceLimits& live);

}  // namespace elbowroom
