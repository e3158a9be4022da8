#include "elbowroom/plan/residency_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "elbowroom/plan/allocation.hpp"
#include "elbowroom/plan/occupancy.hpp"

namespace elbowroom {

Result<std::vector<ResidencyWindow>> residency_windows(const DeviceLimits& device, const KernelFootprint& block) {
  const Result<Occupancy> unpadded = occupancy(device, block);
  if (!unpadded) return unpadded.error();
  std::vector<ResidencyWindow> windows;
  if (block.cluster > 1) {
    windows.push_back({unpadded->residency, Bytes(0), Bytes(0), unpadded->limited_by});
    return windows;
  }

  const Bytes granule = device.shared_granule;
  const Bytes allocated = shared_allocation(device, block);
  const Bytes greatest_pad = round_down(device.shared_per_block - block.static_shared - block.dynamic_shared, granule);
  windows.reserve(static_cast<std::size_t>(unpadded->residency.count()));
  for (std::int64_t blocks = unpadded->residency.count(); blocks >= 1; --blocks) {
    const bool as_it_is = blocks == unpadded->residency.count();
    // n blocks fit while one takes at most 1/n of the SM; n+1 no longer do once it takes more than 1/(n+1).
    const Bytes least = round_down(device.shared_per_sm / (blocks + 1), granule) + granule - allocated;
    const Bytes greatest = round_down(device.shared_per_sm / blocks, granule) - allocated;
    ResidencyWindow window;
    window.blocks_per_sm = BlocksPerSm(blocks);
    window.pad_min = as_it_is ? Bytes(0) : least;
    window.pad_max = std::min(greatest, greatest_pad);
    window.limited_by = as_it_is ? unpadded->limited_by : ResourceSet{Resource::shared_memory};
    if (window.pad_min <= window.pad_max) windows.push_back(window);
  }
  return windows;
}

Result<std::vector<ResidencyWindow>> capped_windows(const DeviceLimits& device, const KernelFootprint& block) {
  Result<std::vector<ResidencyWindow>> windows = residency_windows(device, block);
  if (!windows) return windows;
  const BlocksPerSm own = windows->front().blocks_per_sm;
  std::erase_if(*windows, [](const ResidencyWindow& window) { return window.pad_min == Bytes(0); });
  if (!windows->empty()) return windows;
  return invalid_input(fmt::format("no cap is below the kernel's own residency of {} blocks per SM", own.count()));
}

}  // namespace elbowroom
