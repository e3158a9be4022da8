#include "backend_hip/cu_partition.hpp"

#include <fmt/format.h>

namespace elbowroom::hip {

Result<Sms> compute_units(const OverlapPlan& plan, Sms all) {
  if (plan.comm_sms && plan.sm_target) {
    return invalid_input("sm_target: acts through the CU mask that comm_sms sets; expected one of them");
  }
  if (plan.sm_target) {
    if (*plan.sm_target >= Sms(1) && *plan.sm_target <= all) return *plan.sm_target;
    return invalid_input(fmt::format("sm_target: {}, expected 1 to {}", plan.sm_target->count(), all.count()));
  }
  if (!plan.comm_sms) return all;
  if (*plan.comm_sms >= Sms(1) && *plan.comm_sms < all) return all - *plan.comm_sms;
  return invalid_input(fmt::format("comm_sms: {}, expected 1 to {}", plan.comm_sms->count(), all.count() - 1));
}

std::vector<std::uint32_t> cu_mask(Sms used, Sms all) {
  constexpr std::int64_t word_bits = 32;
  std::vector<std::uint32_t> mask(static_cast<std::size_t>((all.count() + word_bits - 1) / word_bits), 0);
  for (std::int64_t bit = 0; bit < used.count(); ++bit) mask[static_cast<std::size_t>(bit / word_bits)] |= 1U << (bit % word_bits);
  return mask;
}

Result<Stream> make_masked_stream(const HipLibrary& hip, Sms used, Sms all) {
  const std::vector<std::uint32_t> mask = cu_mask(used, all);
  HipStream stream = nullptr;
  const int code = hip.functions.ext_stream_create_with_cu_mask(&stream, static_cast<std::uint32_t>(mask.size()), mask.data());
  if (Status made = hip.check(code, "hipExtStreamCreateWithCUMask"); !made) return made.error();
  return Stream(stream, {hip.functions.stream_destroy});
}

}  // namespace elbowroom::hip
