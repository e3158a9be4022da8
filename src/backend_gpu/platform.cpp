#include "backend_gpu/platform.hpp"

#include <fmt/format.h>

namespace elbowroom::gpu {

Result<Sms> Platform::left_out(const OverlapPlan& plan) const {
  if (!plan.comm_sms) return Sms(0);
  const Sms all = devices_.front().limits.sms;
  if (*plan.comm_sms >= Sms(1) && *plan.comm_sms < all) return *plan.comm_sms;
  return invalid_input(fmt::format("comm_sms: {}, expected 1 to {}", plan.comm_sms->count(), all.count() - 1));
}

}  // namespace elbowroom::gpu
