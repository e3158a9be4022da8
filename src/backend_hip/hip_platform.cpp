#include "backend_hip/hip_platform.hpp"

#include <fmt/format.h>

#include <utility>

#include "backend_hip/cu_partition.hpp"
#include "backend_hip/hip_start_line.hpp"
#include "backend_hip/priority_probe.hpp"
#include "backend_hip/rocblas_library.hpp"
#include "elbowroom/plan/controls.hpp"

namespace elbowroom::hip {
namespace {

constexpr Threads kThreads(256);  // of every kernel of this project that a workload launches

/// Says why no plan with a launch gate is accepted.
Error no_launch_gate() { return invalid_input(fmt::format("launch_gate: {}", kNoGateUnderHip)); }

/// Controls without a counterpart in HIP.
Status exists_here(const CommSettings& settings) {
  if (settings.cluster) return invalid_input("cluster: HIP launches no clusters");
  if (settings.comm_threads) return invalid_input("comm_threads: RCCL takes no number of threads");
  if (settings.symmetric) return invalid_input(fmt::format("symmetric: {}", kSymmetricIsOfNccl));
  if (settings.copy_engine) return invalid_input(fmt::format("copy_engine: {}", kCopyEnginesAreOfNccl));
  if (settings.peer_detour) return invalid_input(fmt::format("peer_detour: {}", kCopyEnginesAreOfNccl));
  return {};
}

}  // namespace

HipPlatform::HipPlatform(std::shared_ptr<const HipLibrary> hip, std::vector<DeviceInfo> devices, std::vector<std::string> targets)
    : Platform(hip->runtime().calls, std::move(devices)), hip_(hip), code_(std::move(hip), std::move(targets)) {}

Status HipPlatform::get_ready() {
  if (probed_) return {};
  const Result<PriorityEffect> effect = probe_priority(*this);
  if (!effect && effect.error().kind != ErrorKind::invalid_input) return effect.error();
  probed_ = true;
  priority_acts_ = effect ? effect->acts() : Status(effect.error());
  return {};
}

Result<gpu::OwnFunction> HipPlatform::function(const std::string& name, int device) {
  const Result<gpu::Function> found = code_.function(name, device);
  if (!found) return found.error();
  return gpu::OwnFunction{*found, kThreads};
}

// HIP counts a grid in threads and wants fewer than 2^32 of them in a direction.
std::int64_t HipPlatform::most_blocks(Threads threads) const { return (std::int64_t{1} << 32) / threads.count() - 1; }

Result<std::unique_ptr<gpu::BlasLibrary>> HipPlatform::blas() const { return load_rocblas(hip_->generation()); }

Result<std::unique_ptr<gpu::StartLine>> HipPlatform::start_line(int gpus) { return make_start_line(*hip_, runtime(), code_, gpus); }

Status HipPlatform::accepts(std::optional<CollectiveOp>, const Launch& launch, const Lane& lane,
                            const gpu::CommLibrary& comm) const {
  if (!launch.after_begun.empty()) return no_launch_gate();
  if (lane.urgent && !priority_acts_) return priority_acts_;
  if (const auto* compute = std::get_if<ComputeSettings>(&launch.settings)) {
    return compute->carveout ? invalid_input("carveout: the LDS of AMD devices is not carved out of a cache") : Status();
  }
  const auto& settings = std::get<CommSettings>(launch.settings);
  if (Status exists = exists_here(settings); !exists) return exists;
  if (settings.comm_blocks && !comm.has_budgets()) {
    return invalid_input(fmt::format("comm_blocks: RCCL {} takes no block budget, expected 2.17 or later", comm.version()));
  }
  return {};
}

Result<Sms> HipPlatform::left_out(const Lane& lane, const ComputeSettings& settings) const {
  if (!settings.sm_target) return Platform::left_out(lane, settings);
  if (lane.leaving_out) return invalid_input("sm_target: acts through the CU mask that comm_sms sets; expected one of them");
  const Sms all = devices().front().limits.sms;
  if (*settings.sm_target >= Sms(1) && *settings.sm_target <= all) return all - *settings.sm_target;
  return invalid_input(fmt::format("sm_target: {}, expected 1 to {}", settings.sm_target->count(), all.count()));
}

Result<gpu::SmPartition> HipPlatform::partition(Sms left_out, int) const {
  const Sms all = devices().front().limits.sms;
  Result<gpu::Stream> stream = make_masked_stream(*hip_, all - left_out, all);
  if (!stream) return stream.error();
  return gpu::SmPartition{nullptr, std::move(*stream)};
}

Status HipPlatform::observes_launches() const { return no_launch_gate(); }

Status HipPlatform::launch_observed(const std::vector<gpu::StreamHandle>&, const std::vector<gpu::EventHandle>&,
                                    const std::function<Status()>&) const {
  return no_launch_gate();
}

Result<Timeline> HipPlatform::record(const std::function<Status()>&) const {
  return unavailable("kernel records: the hip backend has no recorder");
}

}  // namespace elbowroom::hip
