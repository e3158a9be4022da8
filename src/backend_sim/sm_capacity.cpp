#include "backend_sim/sm_capacity.hpp"

#include "headroom/plan/allocation.hpp"
#include "headroom/plan/co_residence.hpp"
#include "headroom/plan/occupancy.hpp"

namespace headroom::sim {
namespace {

// `count` equal blocks as one block of the same warps and shared memory, so that the planner's rule for one communication block
// beside compute answers for several.
KernelFootprint together(const DeviceLimits& device, const KernelFootprint& block, int count) {
  KernelFootprint sum = block;
  sum.threads = device.warp * (warps_per_block(device, block) * count);
  sum.static_shared = shared_allocation(device, block) * count - device.shared_reserved_per_block;
  sum.dynamic_shared = Bytes(0);
  return sum;
}

}  // namespace

Result<SmCapacity> SmCapacity::make(const DeviceLimits& device, const KernelFootprint& compute, const KernelFootprint& comm) {
  const Result<Occupancy> of_compute = occupancy(device, compute);
  if (!of_compute) return of_compute.error();
  const Result<Occupancy> of_comm = occupancy(device, comm);
  if (!of_comm) return of_comm.error();

  SmCapacity capacity;
  const auto most = static_cast<int>(of_compute->residency.count());
  capacity.compute_.push_back(most);
  for (int blocks = 1; blocks <= static_cast<int>(of_comm->residency.count()); ++blocks) {
    const CoResidence beside(device, compute, together(device, comm, blocks));
    int room = capacity.compute_.back();
    while (room > 0 && !beside.blockers(BlocksPerSm(room), Bytes(0)).empty()) --room;
    capacity.compute_.push_back(room);
  }
  return capacity;
}

}  // namespace headroom::sim
