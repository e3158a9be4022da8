#pragma once

#include <string>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom::detail {

/// "544 threads, 96 registers, 36,800 B static and 82,240 B dynamic shared memory, clusters of 4"
std::string footprint_line(const KernelFootprint& footprint);

/// "comm     nccl-2.32:544 (the newest known, whatever NCCL is here; --comm chooses): 544 threads, ...". `is_here`: of the library
/// that is here.
std::string comm_line(const DeviceLimits& device, const CommKernel& comm, bool is_default, bool is_here);

}  // namespace elbowroom::detail
