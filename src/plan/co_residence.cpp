#include "elbowroom/plan/co_residence.hpp"

#include "elbowroom/plan/allocation.hpp"

namespace elbowroom {

CoResidence::CoResidence(const DeviceLimits& device, const KernelFootprint& compute, const KernelFootprint& comm)
    : compute_warps_(warps_per_block(device, compute)),
      comm_warps_(warps_per_block(device, comm)),
      warps_per_sm_(warps_per_sm(device)),
      max_blocks_(device.max_blocks_per_sm),
      sub_partitions_(device.sub_partitions),
      sub_partition_registers_(device.registers_per_sm / device.sub_partitions),
      per_compute_warp_(registers_per_warp(device, compute)),
      per_comm_warp_(registers_per_warp(device, comm)),
      compute_shared_(shared_allocation(device, compute)),
      shared_left_(device.shared_per_sm - shared_allocation(device, comm)),
      granule_(device.shared_granule) {}

bool CoResidence::registers_suffice(std::int64_t compute_warps) const {
  if (per_comm_warp_ == Registers(0)) { return true; }
  // Dealing in turn gives every sub-partition the same number of warps and the first few, of either kernel, one more.
  const std::int64_t fuller = compute_warps % sub_partitions_;
  const std::int64_t base = compute_warps / sub_partitions_;
  const std::int64_t room = (sub_partition_registers_ - per_compute_warp_ * base) / per_comm_warp_;
  const std::int64_t room_in_fuller =
      fuller == 0 ? room : (sub_partition_registers_ - per_compute_warp_ * (base + 1)) / per_comm_warp_;

  const std::int64_t everywhere = comm_warps_ / sub_partitions_;
  const std::int64_t one_more_in = comm_warps_ % sub_partitions_;
  if (room_in_fuller < everywhere) { return false; }
  std::int64_t with_one_more = 0;
  if (room > everywhere) { with_one_more += sub_partitions_ - fuller; }
  if (room_in_fuller > everywhere) { with_one_more += fuller; }
  return with_one_more >= one_more_in;
}

ResourceSet CoResidence::blockers(BlocksPerSm resident, Bytes pad) const {
  ResourceSet blockers;
  const std::int64_t compute_warps = resident.count() * compute_warps_;
  if (compute_warps + comm_warps_ > warps_per_sm_) { blockers.insert(Resource::threads); }
  if (resident + BlocksPerSm(1) > max_blocks_) { blockers.insert(Resource::blocks); }
  if (!registers_suffice(compute_warps)) { blockers.insert(Resource::registers); }
  if (const std::optional<Bytes> most = greatest_pad(resident); !most || pad > *most) { blockers.insert(Resource::shared_memory); }
  return blockers;
}

std::optional<Bytes> CoResidence::greatest_pad(BlocksPerSm resident) const {
  const Bytes most = round_down(shared_left_ / resident.count(), granule_) - compute_shared_;
  return most < Bytes(0) ? std::nullopt : std::optional(most);
}

}  // namespace elbowroom
