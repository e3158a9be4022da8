#include "backend_gpu/platform.hpp"

#include "elbowroom/plan/launch_settings.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom::gpu {

Result<std::optional<Sms>> Platform::left_out(const Lane& lane, const ComputeSettings&) const { return lane.leaving_out; }

}  // namespace elbowroom::gpu
