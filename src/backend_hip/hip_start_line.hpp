#pragma once

#include <memory>
#include <vector>

#include "backend_gpu/start_line.hpp"
#include "backend_hip/device_code.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// Streams wait through the runtime where the devices have a packet for that, else in a kernel of one wave. `hip` outlives it.
Result<std::unique_ptr<gpu::StartLine>> make_start_line(const HipLibrary& hip, const gpu::Runtime& runtime, DeviceCode& code,
                                                        const std::vector<int>& devices);

}  // namespace elbowroom::hip
