#include "backend_hip/cu_partition.hpp"

namespace elbowroom::hip {

std::vector<std::uint32_t> cu_mask(Sms used, Sms all) {
  constexpr std::int64_t word_bits = 32;
  std::vector<std::uint32_t> mask(static_cast<std::size_t>((all.count() + word_bits - 1) / word_bits), 0);
  for (std::int64_t bit = 0; bit < used.count(); ++bit) {
    mask[static_cast<std::size_t>(bit / word_bits)] |= 1U << (bit % word_bits);
  }
  return mask;
}

Result<gpu::Stream> make_masked_stream(const HipLibrary& hip, Sms used, Sms all) {
  const std::vector<std::uint32_t> mask = cu_mask(used, all);
  gpu::StreamHandle stream = nullptr;
  const int code = hip.functions.ext_stream_create_with_cu_mask(&stream, static_cast<std::uint32_t>(mask.size()), mask.data());
  if (Status made = hip.runtime().check(code, "hipExtStreamCreateWithCUMask"); !made) { return made.error(); }
  return gpu::Stream(stream, {hip.runtime().calls.stream_destroy.function});
}

}  // namespace elbowroom::hip
