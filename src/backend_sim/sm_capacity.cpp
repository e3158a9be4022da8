#include "backend_sim/sm_capacity.hpp"

#include <algorithm>
#include <array>

#include "elbowroom/plan/allocation.hpp"
#include "elbowroom/plan/co_residence.hpp"
#include "elbowroom/plan/occupancy.hpp"

namespace elbowroom::sim {
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

// An SM splits its memory between shared memory and L1 for the kernel that comes first, in steps, as small as that kernel's residency
// allows, and keeps the split while anything is resident. Steps in KiB: CUDA C++ Programming Guide 13.0, "Shared Memory" of compute
// capability 8.x, 9.0 and 10.0.
constexpr std::array kCarveOuts{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

DeviceLimits as_split_for(const DeviceLimits& device, Bytes needed) {
  DeviceLimits split = device;
  if (device.vendor != Vendor::nvidia) return split;
  for (const int step : kCarveOuts) {
    if (kibibytes(step) >= needed) {
      split.shared_per_sm = std::min(kibibytes(step), device.shared_per_sm);
      break;
    }
  }
  return split;
}

/// A preference is overruled as far as one block needs.
DeviceLimits as_preferred(const DeviceLimits& device, const KernelFootprint& compute, Percent carveout) {
  return as_split_for(device, std::max(device.shared_per_sm * carveout.count() / 100, shared_allocation(device, compute)));
}

}  // namespace

Result<SmCapacity> SmCapacity::make(const DeviceLimits& device, const KernelFootprint& compute, const KernelFootprint& comm,
                                    std::optional<Percent> carveout) {
  const Result<Occupancy> of_compute = occupancy(carveout ? as_preferred(device, compute, *carveout) : device, compute);
  if (!of_compute) return of_compute.error();
  const Result<Occupancy> of_comm = occupancy(device, comm);
  if (!of_comm) return of_comm.error();

  SmCapacity capacity;
  const auto most = static_cast<int>(of_compute->residency.count());
  capacity.compute_.push_back(most);
  const DeviceLimits split = carveout ? as_preferred(device, compute, *carveout)
                                      : as_split_for(device, shared_allocation(device, compute) * of_compute->residency.count());
  for (int blocks = 1; blocks <= static_cast<int>(of_comm->residency.count()); ++blocks) {
    const CoResidence beside(split, compute, together(device, comm, blocks));
    int room = capacity.compute_.back();
    while (room > 0 && !beside.blockers(BlocksPerSm(room), Bytes(0)).empty()) --room;
    capacity.compute_.push_back(room);
  }
  return capacity;
}

}  // namespace elbowroom::sim
