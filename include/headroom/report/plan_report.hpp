#pragma once

#include <string>

#include "headroom/base/export.hpp"
#include "headroom/base/result.hpp"
#include "headroom/model/comm_catalog.hpp"
#include "headroom/model/device_limits.hpp"
#include "headroom/model/kernel_footprint.hpp"
#include "headroom/plan/residency_plan.hpp"

namespace headroom {

/// Everything that a reader of a plan must see beside it.
struct PlanReport {
  DeviceLimits device;
  KernelFootprint kernel;
  CommKernel comm;
  bool comm_is_default = false;  ///< nobody asked for this communication kernel
  ResidencyPlan plan;
};

/// Plans and keeps the question beside the answer. Errors as plan_residencies() gives them.
HEADROOM_API Result<PlanReport> make_plan_report(const DeviceLimits& device, const KernelFootprint& kernel, const CommKernel& comm);

/// The `headroom.plan/1` document, indented, with a final newline.
HEADROOM_API std::string plan_json(const PlanReport& report);

/// A table for people: one row per residency and a closing sentence that says what shaping buys. Ends with a newline.
HEADROOM_API std::string plan_table(const PlanReport& report);

/// That sentence alone.
HEADROOM_API std::string plan_verdict(const PlanReport& report);

}  // namespace headroom
