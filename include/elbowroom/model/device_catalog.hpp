#pragma once

#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// The devices whose limits are known without one being present, in the order of their release per vendor.
/// Where a live device is at hand its own answers go first: a partitioned or cut-down card has fewer SMs.
ELBOWROOM_API std::span<const DeviceLimits> device_catalog();

/// The entry of that name ("h200"). `invalid_input` names every valid name.
ELBOWROOM_API Result<DeviceLimits> find_device(std::string_view name);

/// The catalog's name for a device that is there. It is the entry whose name is a word of the driver's ("NVIDIA H200" -> "h200")
/// and whose architecture and SMs are the same: cut-down cards and partitions bear the same word. Otherwise the architecture, so
/// that figures of an unlisted device are never filed under a listed one. Of `live` count architecture and SMs.
ELBOWROOM_API std::string catalog_name(std::string_view driver_name, const DeviceLimits& live);

}  // namespace elbowroom
