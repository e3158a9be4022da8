#include "run_backend.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "elbowroom/model/comm_environment.hpp"

namespace elbowroom {
namespace {

constexpr const char* kIgnorePriorities = "DEBUG_HIP_IGNORE_STREAM_PRIORITY";

bool can_be_loaded(std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [](const char* name) {
    void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    return handle != nullptr && dlclose(handle) == 0;
  });
}

bool sets(const RunControls& controls, std::string_view variable) {
  return std::ranges::any_of(controls.comm_library, [&](const auto& setting) { return setting.first == variable; });
}

}  // namespace

std::string_view name(RunBackend backend) { return backend == RunBackend::hip ? "hip" : "cuda"; }

std::string_view preloaded_library(RunBackend backend) {
  return backend == RunBackend::hip ? "libelbowroom_interposer_hip.so" : "libelbowroom_interposer.so";
}

Result<RunBackend> choose_run_backend(std::string_view word) {
  if (word == "cuda") return RunBackend::cuda;
  if (word == "hip") return RunBackend::hip;
  if (word != "auto") return invalid_input(fmt::format("--backend: '{}', expected auto, cuda or hip", word));
  if (can_be_loaded({"libcuda.so.1"})) return RunBackend::cuda;
  const bool hip = can_be_loaded({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"});
  return hip ? RunBackend::hip : RunBackend::cuda;
}

Status check_run_backend(RunBackend backend, run::Policy policy, const RunControls& asked) {
  if (backend != RunBackend::hip) return {};
  if (policy == run::Policy::gate) {
    return invalid_input(
        "--policy: gate is not there with hip, which has no event at the begin of a kernel; expected auto, observe, priority or "
        "shape");
  }
  if (asked.sm_target) return invalid_input("--sm-target: not there with hip, whose rocBLAS takes no number of compute units");
  if (sets(asked, kClusterVariable)) return invalid_input("--set: cluster is not there with hip, which has no clusters of blocks");
  if (sets(asked, kBlockPolicyVariable)) {
    return invalid_input("--set: copy_engine is not there with hip: collectives by copy engines are NCCL's");
  }
  if (!asked.comm_rules.empty()) {
    return invalid_input(fmt::format("--set: {} is not there with hip: the setting is NCCL's", asked.comm_rules.front().first));
  }
  return {};
}

RunControls possible_controls(RunBackend backend, RunControls offered) {
  if (backend != RunBackend::hip) return offered;
  offered.product_targets.clear();
  std::erase_if(offered.comm_library, [](const auto& setting) { return setting.first == kClusterVariable; });
  return offered;
}

EnvironmentChanges backend_environment(RunBackend backend, run::Policy policy, const RunControls& controls) {
  EnvironmentChanges changes;
  if (backend != RunBackend::hip) return changes;
  for (const auto& [variable, value] : controls.comm_library) {
    if (variable == kLeastCommBlocksVariable) changes.emplace_back(kLeastChannelsVariable, value);
    if (variable == kMostCommBlocksVariable) changes.emplace_back(kMostChannelsVariable, value);
  }
  if (policy != run::Policy::observe && std::getenv(kIgnorePriorities) == nullptr) changes.emplace_back(kIgnorePriorities, "0");
  return changes;
}

}  // namespace elbowroom
