#include "backend_gpu/platform.hpp"

namespace elbowroom::gpu {

Result<Sms> Platform::left_out(const Lane& lane, const ComputeSettings&) const { return lane.leaving_out.value_or(Sms(0)); }

}  // namespace elbowroom::gpu
