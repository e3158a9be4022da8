#include "preload/backend.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "elbowroom/model/comm_environment.hpp"
#include "plan/control_name.hpp"
#include "preload/xla_buffers.hpp"

namespace elbowroom::preload {
namespace {

constexpr const char* kIgnorePriorities = "DEBUG_HIP_IGNORE_STREAM_PRIORITY";

}  // namespace

std::string_view name(RunBackend backend) { return backend == RunBackend::hip ? "hip" : "cuda"; }

std::string_view preloaded_library(RunBackend backend) {
  return backend == RunBackend::hip ? "libelbowroom_interposer_hip.so" : "libelbowroom_interposer.so";
}

Status check_run_backend(RunBackend backend, run::Policy policy, const Controls& asked) {
  if (backend != RunBackend::hip) { return {}; }
  if (policy == run::Policy::gate) {
    return invalid_input(
        "--policy: gate is not there with hip, which has no event at the begin of a kernel; expected auto, observe, priority or "
        "shape");
  }
  if (asked.sm_target) { return invalid_input("--sm-target: not there with hip, whose rocBLAS takes no number of compute units"); }
  if (value_of(asked.comm_library, kClusterVariable)) {
    return invalid_input(
        fmt::format("--set: {} is not there with hip, which has no clusters of blocks", detail::name_of<&OverlapPlan::cluster>()));
  }
  if (value_of(asked.comm_library, kBlockPolicyVariable)) {
    return invalid_input(fmt::format("--set: {} is not there with hip: collectives by copy engines are NCCL's",
                                     detail::name_of<&OverlapPlan::copy_engine>()));
  }
  if (asked.xla_buffers) {
    return invalid_input(fmt::format("--set: {} is not there with hip: RCCL refuses such buffers", kXlaBuffers));
  }
  if (value_of(asked.comm_library, kSymmetricBlocksVariable)) {
    return invalid_input(fmt::format("--set: {} is not there with hip: the setting is NCCL's", kSymmetricBlocks));
  }
  return {};
}

Controls possible_controls(RunBackend backend, Controls offered) {
  if (backend != RunBackend::hip) { return offered; }
  offered.product_targets.clear();
  std::erase_if(offered.comm_library, [](const auto& setting) { return setting.first == kClusterVariable; });
  return offered;
}

Variables backend_environment(RunBackend backend, run::Policy policy, const Controls& controls, const Variables& environment) {
  Variables changes;
  if (backend != RunBackend::hip) { return changes; }
  for (const auto& [variable, value] : controls.comm_library) {
    if (variable == kLeastCommBlocksVariable) { changes.emplace_back(kLeastChannelsVariable, value); }
    if (variable == kMostCommBlocksVariable) { changes.emplace_back(kMostChannelsVariable, value); }
  }
  if (policy != run::Policy::observe && !value_of(environment, kIgnorePriorities)) { changes.emplace_back(kIgnorePriorities, "0"); }
  return changes;
}

}  // namespace elbowroom::preload
