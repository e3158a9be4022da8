#include "backend_gpu/platform.hpp"

#include <fmt/format.h>

namespace elbowroom::gpu {

Result<Sms> Platform::left_out(const Lane& lane, const ComputeSettings&) const {
  if (!lane.leaving_out) return Sms(0);
  const Sms all = devices_.front().limits.sms;
  if (*lane.leaving_out >= Sms(1) && *lane.leaving_out < all) return *lane.leaving_out;
  return invalid_input(fmt::format("comm_sms: {}, expected 1 to {}", lane.leaving_out->count(), all.count() - 1));
}

}  // namespace elbowroom::gpu
