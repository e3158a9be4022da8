#pragma once

#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/resource.hpp"

namespace elbowroom {

/// The pads (added dynamic shared memory, multiples of the device's granule) that give exactly one residency.
struct PadRange {
  BlocksPerSm blocks_per_sm;
  Bytes pad_min;
  Bytes pad_max;           ///< never beyond what one block may ask for
  ResourceSet limited_by;  ///< at `pad_min`

  bool operator==(const PadRange&) const = default;
};

/// One range per residency that padding can reach, greatest first; the first is the unpadded one and begins at 0. A residency
/// between two that no multiple of the granule hits is left out. A kernel in clusters has only the unpadded range, of pad 0:
/// its launches are not padded. `invalid_input` as occupancy() gives it.
ELBOWROOM_API Result<std::vector<PadRange>> pad_ranges(const DeviceLimits& device, const KernelFootprint& block);

/// Those of them that a pad is needed for, at least one; `invalid_input` where there is none.
ELBOWROOM_API Result<std::vector<PadRange>> capped_pad_ranges(const DeviceLimits& device, const KernelFootprint& block);

}  // namespace elbowroom
