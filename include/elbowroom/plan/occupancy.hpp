#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/resource.hpp"

namespace elbowroom {

/// Blocks per SM that each resource alone would allow. A resource that the block does not use allows `max_blocks_per_sm`.
struct BlockLimits {
  BlocksPerSm by_threads;
  BlocksPerSm by_blocks;
  BlocksPerSm by_registers;
  BlocksPerSm by_shared_memory;
};

struct Occupancy {
  BlocksPerSm residency;   ///< at least 1
  ResourceSet limited_by;  ///< every resource that allows no more than that
};

/// `invalid_input` when not even one block can run: the message names the fact, both amounts and the unit. Any values may come
/// in, none overflows. The whole SM counts as shared memory, as if the largest carve-out was chosen.
ELBOWROOM_API Result<BlockLimits> block_limits(const DeviceLimits& device, const KernelFootprint& block);

/// How many such blocks are resident on one SM when nothing else is. Agrees with the toolkit's cuda_occupancy.h on NVIDIA and with
/// the waves per SIMD that VGPRs and LDS allow on AMD. Costs well under 200 ns; allocates only for an error's message.
ELBOWROOM_API Result<Occupancy> occupancy(const DeviceLimits& device, const KernelFootprint& block);

}  // namespace elbowroom
