#pragma once

#include "backend_gpu/platform.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// An SM partition as a green context, on device `device`, which must be current. `left_out` is rounded up to what the driver can
/// split off (8 SMs on Hopper). `unavailable` before CUDA 12.5 drivers, `invalid_input` when nothing would be left.
Result<gpu::SmPartition> green_context(Sms left_out, int device);

}  // namespace elbowroom::cuda
