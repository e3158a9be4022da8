#include "interposer/core/shaping.hpp"

#include <algorithm>

namespace elbowroom::interposer {
namespace {

Refusal never_pad(const ShapingQuestion& question) {
  if (question.facts.cooperative) { return Refusal::cooperative_launch; }
  if (question.facts.cluster > 1) { return Refusal::cluster_launch; }
  if (question.residency == 0 || question.device.sms == 0) { return Refusal::unknown_residency; }
  if (question.residency <= question.cap) { return Refusal::already_at_cap; }
  if (question.facts.grid.count() <= std::uint64_t{question.device.sms} * question.residency) { return Refusal::single_wave; }
  return Refusal::none;
}

}  // namespace

Shaping shape(const ShapingQuestion& question) {
  if (const Refusal refusal = never_pad(question); refusal != Refusal::none) { return {refusal, 0}; }
  const DeviceInfo& device = question.device;
  const std::uint32_t granule = device.shared_granule;
  const std::uint32_t per_block = device.shared_per_sm / (question.cap + 1) / granule * granule + granule;
  const std::uint32_t taken = device.reserved_per_block + question.static_shared;
  if (std::uint64_t{per_block} * question.cap > device.shared_per_sm || per_block < taken) { return {Refusal::no_pad, 0}; }
  const std::uint32_t dynamic = std::max(per_block - taken, question.facts.dynamic_shared);
  if (question.static_shared + dynamic > device.max_shared_per_block) { return {Refusal::no_pad, 0}; }
  return {Refusal::none, dynamic};
}

}  // namespace elbowroom::interposer
