#include "elbowroom/plan/pad_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "elbowroom/plan/allocation.hpp"
#include "elbowroom/plan/occupancy.hpp"

namespace elbowroom {

Result<std::vector<PadRange>> pad_ranges(const DeviceLimits& device, const KernelFootprint& block) {
  const Result<Occupancy> unpadded = occupancy(device, block);
  if (!unpadded) { return unpadded.error(); }
  std::vector<PadRange> ranges;
  if (block.cluster > 1) {
    ranges.push_back({unpadded->residency, Bytes(0), Bytes(0), unpadded->limited_by});
    return ranges;
  }

  const Bytes granule = device.shared_granule;
  const Bytes allocated = shared_allocation(device, block);
  const Bytes greatest_pad = round_down(device.shared_per_block - block.static_shared - block.dynamic_shared, granule);
  ranges.reserve(static_cast<std::size_t>(unpadded->residency.count()));
  for (std::int64_t blocks = unpadded->residency.count(); blocks >= 1; --blocks) {
    const bool as_it_is = blocks == unpadded->residency.count();
    // n blocks fit while one takes at most 1/n of the SM; n+1 no longer do once it takes more than 1/(n+1).
    const Bytes least = round_down(device.shared_per_sm / (blocks + 1), granule) + granule - allocated;
    const Bytes greatest = round_down(device.shared_per_sm / blocks, granule) - allocated;
    PadRange range;
    range.blocks_per_sm = BlocksPerSm(blocks);
    range.pad_min = as_it_is ? Bytes(0) : least;
    range.pad_max = std::min(greatest, greatest_pad);
    range.limited_by = as_it_is ? unpadded->limited_by : ResourceSet{Resource::shared_memory};
    if (range.pad_min <= range.pad_max) { ranges.push_back(range); }
  }
  return ranges;
}

Result<std::vector<PadRange>> capped_pad_ranges(const DeviceLimits& device, const KernelFootprint& block) {
  Result<std::vector<PadRange>> ranges = pad_ranges(device, block);
  if (!ranges) { return ranges; }
  const BlocksPerSm own = ranges->front().blocks_per_sm;
  std::erase_if(*ranges, [](const PadRange& range) { return range.pad_min == Bytes(0); });
  if (!ranges->empty()) { return ranges; }
  return invalid_input(fmt::format("no cap is below the kernel's own residency of {} blocks per SM", own.count()));
}

}  // namespace elbowroom
