#include "elbowroom/plan/residency_plan.hpp"

#include <algorithm>

#include "elbowroom/plan/co_residence.hpp"
#include "elbowroom/plan/occupancy.hpp"

namespace elbowroom {
namespace {

ResidencyRow row_of(const PadRange& range, const CoResidence& beside, bool padded) {
  ResidencyRow row;
  row.range = range;
  row.comm_blocked_by = beside.blockers(range.blocks_per_sm, range.pad_min);
  if (const std::optional<Bytes> most = beside.greatest_pad(range.blocks_per_sm); most && row.comm_blocked_by.empty()) {
    row.comm_pad_max = std::min(range.pad_max, *most);
    row.gain = Gain::co_resident;
  } else if (padded) {
    row.gain = Gain::drains_sooner;
  }
  return row;
}

}  // namespace

std::string_view to_string(Gain gain) {
  switch (gain) {
    case Gain::none:
      return "none";
    case Gain::drains_sooner:
      return "drains_sooner";
    case Gain::co_resident:
      return "co_resident";
  }
  return "";
}

Result<ResidencyPlan> plan_residencies(const DeviceLimits& device, const KernelFootprint& compute, const KernelFootprint& comm) {
  const Result<std::vector<PadRange>> ranges = pad_ranges(device, compute);
  if (!ranges) { return invalid_input("compute kernel: " + ranges.error().message); }
  if (const Result<Occupancy> runs = occupancy(device, comm); !runs) {
    return invalid_input("communication kernel: " + runs.error().message);
  }
  const CoResidence beside(device, compute, comm);
  ResidencyPlan plan;
  plan.rows.reserve(ranges->size());
  for (const PadRange& range : *ranges) { plan.rows.push_back(row_of(range, beside, !plan.rows.empty())); }
  return plan;
}

}  // namespace elbowroom
