#pragma once

#include <string>

#include "elbowroom/model/comm_catalog.hpp"

namespace elbowroom::detail {

/// "544 threads, 96 registers, 36,800 B static and 82,240 B dynamic shared memory, clusters of 4"
std::string footprint_line(const KernelFootprint& footprint);

/// "comm     nccl-2.30:544 (default, --comm chooses): 544 threads, ..."
std::string comm_line(const CommKernel& comm, bool is_default);

}  // namespace elbowroom::detail
