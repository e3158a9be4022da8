#include "elbowroom/plan/overlap_plan.hpp"

#include <fmt/format.h>

namespace elbowroom {

std::string in_words(const OverlapPlan& plan) {
  std::string words;
  const auto add = [&words](const std::string& word) { words += words.empty() ? word : ", " + word; };
  if (plan.blocks_per_sm) add(fmt::format("{} blocks/SM", plan.blocks_per_sm->count()));
  if (!plan.blocks_per_sm && plan.pad != Bytes(0)) add(fmt::format("pad {} B", plan.pad.count()));
  if (plan.priority) add("priority");
  if (plan.launch_gate) add("launch gate");
  if (plan.comm_blocks) add(fmt::format("{} comm blocks", plan.comm_blocks->count()));
  if (plan.cluster) add(fmt::format("cluster {}", *plan.cluster));
  if (plan.sm_target) add(fmt::format("SM target {}", plan.sm_target->count()));
  if (plan.comm_threads) add(fmt::format("{} comm threads", plan.comm_threads->count()));
  if (plan.carveout) add(fmt::format("carve-out {} %", plan.carveout->count()));
  if (plan.comm_sms) add(fmt::format("{} SMs for the collective alone", plan.comm_sms->count()));
  if (plan.symmetric) add("symmetric memory");
  if (plan.copy_engine) add("copy engines");
  if (plan.peer_detour) add("own share by way of a peer");
  if (plan.windows_only) add("in windows only");
  return words.empty() ? "no control" : words;
}

}  // namespace elbowroom
