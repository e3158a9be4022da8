#include "elbowroom/plan/residency_plan.hpp"

#include <algorithm>

#include "elbowroom/plan/co_residence.hpp"
#include "elbowroom/plan/occupancy.hpp"

namespace elbowroom {
namespace {

ResidencyRow row_of(const ResidencyWindow& window, const CoResidence& beside, bool padded) {
  ResidencyRow row;
  row.window = window;
  row.comm_blocked_by = beside.blockers(window.blocks_per_sm, window.pad_min);
  if (row.comm_blocked_by.empty()) {
    row.comm_pad_max = std::min(window.pad_max, beside.greatest_pad(window.blocks_per_sm));
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
  const Result<std::vector<ResidencyWindow>> windows = residency_windows(device, compute);
  if (!windows) return invalid_input("compute kernel: " + windows.error().message);
  if (const Result<Occupancy> runs = occupancy(device, comm); !runs) {
    return invalid_input("communication kernel: " + runs.error().message);
  }
  const CoResidence beside(device, compute, comm);
  ResidencyPlan plan;
  plan.rows.reserve(windows->size());
  for (const ResidencyWindow& window : *windows) plan.rows.push_back(row_of(window, beside, !plan.rows.empty()));
  return plan;
}

}  // namespace elbowroom
