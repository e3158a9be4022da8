#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/plan/residency_plan.hpp"
#include "elbowroom/report/table_width.hpp"

namespace elbowroom {

/// One kernel of a file, planned for.
struct PlannedKernel {
  std::string name;
  std::string architecture;  ///< of its code; empty where that is not known
  KernelFootprint footprint;
  Result<ResidencyPlan> plan;  ///< or why the device does not run it
};

struct KernelsReport {
  DeviceLimits device;
  CommKernel comm;
  bool comm_is_default = false;
  bool comm_is_here = false;
  std::vector<PlannedKernel> kernels;
};

/// A table for people, one line for each kernel. Ends with a newline. In less than the table's width names
/// have lines of their own, and shared memory is left out.
ELBOWROOM_API std::string kernels_table(const KernelsReport& report, std::size_t width = kAnyWidth);

/// The `elbowroom.kernels/1` document, indented, with a final newline.
ELBOWROOM_API std::string kernels_json(const KernelsReport& report);

}  // namespace elbowroom
