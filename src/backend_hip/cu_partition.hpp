#pragma once

#include <cstdint>
#include <vector>

#include "backend_hip/handles.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom::hip {

/// The compute units that a plan leaves to compute on a device of `all`: those beside `comm_sms`, or the `sm_target` of a library's
/// kernel. All of them when it sets neither; `invalid_input` when nothing would be left for one side or both are set.
Result<Sms> compute_units(const OverlapPlan& plan, Sms all);

/// As hipExtStreamCreateWithCUMask takes it: `used` of `all` bits, from the lowest. The kernel driver deals successive bits out to the
/// shader engines in turn, so that a run of them takes an equal share of each.
std::vector<std::uint32_t> cu_mask(Sms used, Sms all);

/// A stream of the current device whose kernels run on `used` of its `all` compute units. What runs on other streams may use any.
Result<Stream> make_masked_stream(const HipLibrary& hip, Sms used, Sms all);

}  // namespace elbowroom::hip
