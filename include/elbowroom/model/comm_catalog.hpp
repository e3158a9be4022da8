#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

/// 2.28 of "NCCL 2.28.9": a row of the catalog stands for all patches.
struct CommRelease {
  int major = 0;
  int minor = 0;
  friend constexpr auto operator<=>(const CommRelease&, const CommRelease&) = default;
};

/// A kernel of a communication library as one device runs it.
struct CommKernel {
  std::string name;  ///< "nccl-2.28:544", or "custom" for an explicit footprint
  KernelFootprint footprint;
  std::string source;
  std::string row;  ///< whose figures these are: "nccl-2.32:544" where NCCL 2.33 was asked for; else `name`
};

/// Names that find_comm_kernel knows on a device of this vendor.
ELBOWROOM_API std::vector<std::string> comm_kernel_names(Vendor vendor);

/// Finds `text` in the catalog, or reads an explicit footprint `threads,registers,static,dynamic,cluster`; the two sizes take
/// suffixes as parse_size does. NCCL's are `nccl-RELEASE:KIND`; a release without a row has the newest row below it, or the oldest
/// row. Sizes and cluster depend on the architecture of the library's code that the device runs. `invalid_input` for an unknown
/// name, a library of the other vendor, a device that the library has no code for, a size that is not known, and a malformed
/// footprint. Whether the block can run is occupancy's question.
ELBOWROOM_API Result<CommKernel> find_comm_kernel(std::string_view text, const DeviceLimits& device);

/// What an all-reduce of the vendor's library launches when nothing is said: ring and Simple on NVIDIA. `there`: the library that
/// is; absent: the newest row.
ELBOWROOM_API std::string default_comm_kernel(const DeviceLimits& device, std::optional<CommRelease> there = std::nullopt);

/// What to say of a release that has no row: whose figures it has. Absent where it has one.
ELBOWROOM_API std::optional<std::string> note_on_release(CommRelease there);

/// What the vendor's library launches for `op` when nothing is said, and of how many blocks. `there`: the library that is; absent:
/// the one that the simulator's times were measured with, NCCL 2.28.
ELBOWROOM_API std::string comm_kernel_of(CollectiveOp op, const DeviceLimits& device,
                                         std::optional<CommRelease> there = std::nullopt);
ELBOWROOM_API Blocks comm_blocks_of(CollectiveOp op, const DeviceLimits& device);

/// What NCCL launches for `op` on symmetric memory from sm_90 on. `invalid_input` for a release whose dynamic shared memory is not
/// known. There is no such kernel for an all_to_all; its answer means nothing.
ELBOWROOM_API Result<CommKernel> symmetric_comm_kernel(CollectiveOp op, std::optional<CommRelease> there = std::nullopt);

/// The budget that stands for what it then takes by itself, which is 7 or 9 blocks (CollectiveFacts::symmetric_blocks). Budgets are
/// multiples of 4, so that they divide into clusters.
inline constexpr Blocks kSymmetricBlocks{8};

/// No NCCL gives a collective more.
inline constexpr Blocks kGreatestCommBlocks{64};
/// No device starts more blocks together, unless a kernel asks for it.
inline constexpr int kGreatestCluster = 8;

}  // namespace elbowroom
