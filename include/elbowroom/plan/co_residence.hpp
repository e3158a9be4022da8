#pragma once

#include <cstdint>
#include <optional>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/resource.hpp"

namespace elbowroom {

/// Whether one communication block finds room on an SM beside resident compute blocks. Registers count per sub-partition of the SM,
/// and warps are dealt to these in turn. A block of 17 warps needs room for 4 in each and for a fifth in one, whatever the SM has
/// left in sum. The whole SM counts as shared memory: a kernel must choose the largest carve-out for that to hold.
class CoResidence {
 public:
  /// Both footprints must be ones that occupancy() accepts on `device`.
  ELBOWROOM_API CoResidence(const DeviceLimits& device, const KernelFootprint& compute, const KernelFootprint& comm);

  /// What keeps the communication block out beside `resident` compute blocks that are each padded by `pad`, a multiple of the
  /// granule; empty: it fits. `resident` such blocks must themselves fit.
  [[nodiscard]] ELBOWROOM_API ResourceSet blockers(BlocksPerSm resident, Bytes pad) const;

  /// The greatest pad whose shared memory still leaves enough for the communication block; absent when none does, not even zero.
  [[nodiscard]] ELBOWROOM_API std::optional<Bytes> greatest_pad(BlocksPerSm resident) const;

 private:
  [[nodiscard]] bool registers_suffice(std::int64_t compute_warps) const;

  std::int64_t compute_warps_;  ///< per block
  std::int64_t comm_warps_;
  std::int64_t warps_per_sm_;
  BlocksPerSm max_blocks_;
  std::int64_t sub_partitions_;
  Registers sub_partition_registers_;
  Registers per_compute_warp_;
  Registers per_comm_warp_;
  Bytes compute_shared_;  ///< one block's allocation without pad
  Bytes shared_left_;     ///< beside the communication block
  Bytes granule_;
};

}  // namespace elbowroom
