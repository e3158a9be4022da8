#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

/// A kernel of a communication library as one device runs it.
struct CommKernel {
  std::string name;  ///< "nccl-2.28:544", or "custom" for an explicit footprint
  KernelFootprint footprint;
  std::string source;
};

/// Names that find_comm_kernel knows on a device of this vendor.
ELBOWROOM_API std::vector<std::string> comm_kernel_names(Vendor vendor);

/// Finds `text` in the catalog, or reads an explicit footprint `threads,registers,static,dynamic,cluster`; the two sizes take
/// suffixes as parse_size does. Sizes and cluster depend on the architecture. `invalid_input` for an unknown name (lists the valid
/// ones), a library of the other vendor, and a malformed footprint. Whether the block can run is occupancy's question.
ELBOWROOM_API Result<CommKernel> find_comm_kernel(std::string_view text, const DeviceLimits& device);

/// What an all-reduce of the vendor's library launches there when nothing is said: ring and Simple on NVIDIA.
ELBOWROOM_API std::string_view default_comm_kernel(const DeviceLimits& device);

/// What the vendor's library launches there for `op` when nothing is said, and of how many blocks.
ELBOWROOM_API std::string_view comm_kernel_of(CollectiveOp op, const DeviceLimits& device);
ELBOWROOM_API Blocks comm_blocks_of(CollectiveOp op, const DeviceLimits& device);

/// What NCCL launches for `op` on symmetric memory from sm_90 on. There is no such kernel for an all_to_all; its answer means
/// nothing.
ELBOWROOM_API CommKernel symmetric_comm_kernel(CollectiveOp op);

/// The budget that stands for what it then takes by itself, which is 7 or 9 blocks (CollectiveFacts::symmetric_blocks). Budgets are
/// multiples of 4, so that they divide into clusters.
inline constexpr Blocks kSymmetricBlocks{8};

/// No NCCL gives a collective more.
inline constexpr Blocks kGreatestCommBlocks{64};
/// No device starts more blocks together, unless a kernel asks for it.
inline constexpr int kGreatestCluster = 8;

}  // namespace elbowroom
