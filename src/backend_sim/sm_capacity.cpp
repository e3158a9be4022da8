#include "backend_sim/sm_capacity.hpp"

#include <algorithm>
#include <array>

#include "elbowroom/plan/allocation.hpp"
#include "elbowroom/plan/co_residence.hpp"
#include "elbowroom/plan/occupancy.hpp"

namespace elbowroom::sim {
namespace {

// An SM splits its memory between shared memory and L1 for the kernel that comes first. The split is in steps, as small as that
// kernel's residency allows, and stays while anything is resident. Steps in KiB: CUDA C++ Programming Guide 13.0, "Shared Memory"
// of compute capability 8.x, 9.0 and 10.0.
constexpr std::array kCarveOuts{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

Bytes split_of(const DeviceLimits& device, Bytes needed) {
  if (device.vendor != Vendor::nvidia) { return device.shared_per_sm; }
  for (const int step : kCarveOuts) {
    if (kibibytes(step) >= needed) { return std::min(kibibytes(step), device.shared_per_sm); }
  }
  return device.shared_per_sm;
}

DeviceLimits with_split(const DeviceLimits& device, Bytes split) {
  DeviceLimits made = device;
  made.shared_per_sm = split;
  return made;
}

/// A preference is overruled as far as one block needs.
Bytes preferred_split(const DeviceLimits& device, const KernelFootprint& compute, Percent carveout) {
  return split_of(device, std::max(device.shared_per_sm * carveout.count() / 100, shared_allocation(device, compute)));
}

}  // namespace

Mix with(const Mix& mix, int kernel, int change) {
  Mix made = mix;
  const auto found = std::ranges::lower_bound(made, kernel, {}, &Share::kernel);
  if (found == made.end() || found->kernel != kernel) {
    made.insert(found, {kernel, change});
  } else {
    found->count += change;
    if (found->count == 0) { made.erase(found); }
  }
  return made;
}

Result<SmCapacity> SmCapacity::make(const DeviceLimits& device, const std::vector<SimKernel>& kernels) {
  SmCapacity capacity;
  capacity.device_ = device;
  for (const SimKernel& kernel : kernels) {
    const KernelFootprint& footprint = kernel.footprint();
    Kernel made{footprint, kernel.computes(), device.shared_per_sm};
    if (made.computes && kernel.carveout) { made.split = preferred_split(device, footprint, *kernel.carveout); }
    const Result<Occupancy> alone = occupancy(with_split(device, made.split), footprint);
    if (!alone) { return alone.error(); }
    if (made.computes && !kernel.carveout) {
      made.split = split_of(device, shared_allocation(device, footprint) * alone->residency.count());
    }
    capacity.kernels_.push_back(made);
    capacity.alone_.push_back(static_cast<int>(alone->residency.count()));
  }
  return capacity;
}

DeviceLimits SmCapacity::split_for(const Mix& mix) const {
  Bytes split(0);
  for (const Share& share : mix) {
    if (of(share).computes) { split = std::max(split, of(share).split); }
  }
  return split == Bytes(0) ? device_ : with_split(device_, split);
}

int SmCapacity::most_beside(int kernel, const Mix& others, const DeviceLimits& split) const {
  // All other blocks as one, so that the planner's rule for one block beside resident ones answers for several.
  KernelFootprint together{Threads(0), Registers(0), Bytes(0), Bytes(0), 1};
  Bytes shared(0);
  for (const Share& share : others) {
    const KernelFootprint& block = of(share).footprint;
    together.threads += device_.warp * (warps_per_block(device_, block) * share.count);
    together.registers_per_thread = std::max(together.registers_per_thread, block.registers_per_thread);
    shared += shared_allocation(device_, block) * share.count;
  }
  together.static_shared = shared - device_.shared_reserved_per_block;
  const CoResidence beside(split, kernels_[static_cast<std::size_t>(kernel)].footprint, together);
  int room = most(kernel);
  while (room > 0 && !beside.blockers(BlocksPerSm(room), Bytes(0)).empty()) { --room; }
  return room;
}

bool SmCapacity::fits(const Mix& mix) const {
  const DeviceLimits split = split_for(mix);
  Mix others = mix;
  while (!others.empty()) {
    const Share first = others.front();
    others.erase(others.begin());
    if (first.count > most(first.kernel)) { return false; }
    if (!others.empty() && first.count > most_beside(first.kernel, others, split)) { return false; }
  }
  return true;
}

int SmCapacity::room(const Mix& mix, int kernel) const {
  int room = 0;
  while (fits(with(mix, kernel, room + 1))) { ++room; }
  return room;
}

}  // namespace elbowroom::sim
