#include "elbowroom/plan/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <vector>

#include "elbowroom/base/grouped.hpp"
#include "elbowroom/plan/pad_ranges.hpp"

namespace elbowroom {

Result<OverlapPlan> shape_to(const DeviceLimits& device, const KernelFootprint& block, BlocksPerSm residency) {
  const Result<std::vector<PadRange>> ranges = pad_ranges(device, block);
  if (!ranges) { return ranges.error(); }
  if (block.cluster > 1) {
    return invalid_input(
        fmt::format("a kernel in clusters of {} is never padded: its blocks must start together", grouped(block.cluster)));
  }
  std::vector<std::int64_t> reachable;
  for (const PadRange& range : *ranges) {
    if (range.blocks_per_sm == residency) {
      OverlapPlan plan;
      plan.blocks_per_sm = residency;
      plan.pad = range.pad_min;
      return plan;
    }
    reachable.push_back(range.blocks_per_sm.count());
  }
  return invalid_input(fmt::format("no pad gives {} blocks per SM on {}, expected one of {}", grouped(residency.count()),
                                   device.name, fmt::join(reachable, ", ")));
}

}  // namespace elbowroom
