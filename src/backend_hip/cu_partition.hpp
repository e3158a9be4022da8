#pragma once

#include <cstdint>
#include <vector>

#include "backend_gpu/handles.hpp"
#include "backend_hip/hip_library.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// As hipExtStreamCreateWithCUMask takes it: `used` of `all` bits, from the lowest. The kernel driver deals successive bits out to
/// the shader engines in turn, so that a run of them takes an equal share of each.
std::vector<std::uint32_t> cu_mask(Sms used, Sms all);

/// A stream of the current device whose kernels run on `used` of its `all` compute units. What runs on other streams may use any.
Result<gpu::Stream> make_masked_stream(const HipLibrary& hip, Sms used, Sms all);

}  // namespace elbowroom::hip
