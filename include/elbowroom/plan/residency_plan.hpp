#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/pad_ranges.hpp"
#include "elbowroom/plan/resource.hpp"

namespace elbowroom {

/// What a residency is worth to the communication kernel.
enum class Gain {
  none,           ///< unpadded, and the communication block does not fit beside it
  drains_sooner,  ///< no room now, but fewer blocks to wait for until an SM is free, and less pressure on memory
  co_resident,    ///< room for a communication block on an SM that computes
};

/// "none", "drains_sooner", "co_resident".
ELBOWROOM_API std::string_view to_string(Gain gain);

struct ResidencyRow {
  PadRange range;
  ResourceSet comm_blocked_by;        ///< at the least pad; empty: a communication block fits
  std::optional<Bytes> comm_pad_max;  ///< greatest pad of the range at which it still fits; absent when it never does
  Gain gain = Gain::none;
};

struct ResidencyPlan {
  std::vector<ResidencyRow> rows;  ///< as pad_ranges() orders them, never empty
};

/// Every residency that padding can reach, with what it means for `comm`. `invalid_input` when one of the two kernels cannot run
/// on the device; the message says which. Costs under 20 us.
ELBOWROOM_API Result<ResidencyPlan> plan_residencies(const DeviceLimits& device, const KernelFootprint& compute,
                                                     const KernelFootprint& comm);

}  // namespace elbowroom
