#pragma once

#include <cstddef>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/residency_plan.hpp"
#include "elbowroom/report/table_width.hpp"

namespace elbowroom {

/// Everything that a reader of a plan must see beside it.
struct PlanReport {
  DeviceLimits device;
  KernelFootprint kernel;
  CommKernel comm;
  bool comm_is_default = false;  ///< nobody asked for this communication kernel
  bool comm_is_here = false;     ///< it is the row of the NCCL that is here
  ResidencyPlan plan;
};

/// Plans and keeps the question beside the answer. Errors as plan_residencies() gives them.
ELBOWROOM_API Result<PlanReport> make_plan_report(const DeviceLimits& device, const KernelFootprint& kernel,
                                                  const CommKernel& comm);

/// The `elbowroom.plan/1` document, indented, with a final newline.
ELBOWROOM_API std::string plan_json(const PlanReport& report);

/// A table for people: one row per residency and a closing sentence that says what shaping buys. Ends with a newline. In
/// less than the table's width the columns that the sentence sums up are left out.
ELBOWROOM_API std::string plan_table(const PlanReport& report, std::size_t width = kAnyWidth);

/// That sentence alone.
ELBOWROOM_API std::string plan_verdict(const PlanReport& report);

}  // namespace elbowroom
