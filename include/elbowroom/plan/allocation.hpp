#pragma once

#include <cstdint>

#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"

namespace elbowroom {

// What an SM really sets aside for a block, rounded up as the hardware hands it out. The footprint must be one that
// occupancy() accepts.

inline std::int64_t warps_per_block(const DeviceLimits& device, const KernelFootprint& block) {
  return (block.threads + device.warp - Threads(1)) / device.warp;
}

inline std::int64_t warps_per_sm(const DeviceLimits& device) { return device.max_threads_per_sm / device.warp; }

inline Registers registers_per_warp(const DeviceLimits& device, const KernelFootprint& block) {
  return round_up(block.registers_per_thread * device.warp.count(), device.register_granule);
}

inline Bytes shared_allocation(const DeviceLimits& device, const KernelFootprint& block) {
  return round_up(device.shared_reserved_per_block + block.static_shared + block.dynamic_shared, device.shared_granule);
}

}  // namespace elbowroom
