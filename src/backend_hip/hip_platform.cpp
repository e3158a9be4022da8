#include "backend_hip/hip_platform.hpp"

#include <fmt/format.h>

#include <utility>

#include "backend_hip/cu_partition.hpp"
#include "backend_hip/hip_start_line.hpp"
#include "backend_hip/priority_probe.hpp"
#include "backend_hip/rocblas_library.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/program.hpp"
#include "plan/control_name.hpp"

namespace elbowroom::hip {
namespace {

constexpr Threads kThreads(256);  // of every kernel of this project that a workload launches

/// Users' code objects.
gpu::ModuleFiles user_modules(const std::shared_ptr<const HipLibrary>& hip) {
  const auto load = [hip](const std::string& image) -> Result<gpu::ModuleFiles::Module> {
    HipModule module = nullptr;
    const Status loaded = hip->runtime().check(hip->functions.module_load_data(&module, image.data()), "hipModuleLoadData");
    if (!loaded) { return loaded.error(); }
    return gpu::ModuleFiles::Module(
        module, [hip](void* kept) { static_cast<void>(hip->functions.module_unload(static_cast<HipModule>(kept))); });
  };
  const auto find = [hip](void* module, const std::string& name) -> Result<gpu::Function> {
    gpu::Function function = nullptr;
    const int code = hip->functions.module_get_function(&function, static_cast<HipModule>(module), name.c_str());
    const Status found = hip->runtime().check(code, "hipModuleGetFunction");
    return found ? Result<gpu::Function>(function) : found.error();
  };
  return {load, find};
}

}  // namespace

HipPlatform::HipPlatform(std::shared_ptr<const HipLibrary> hip, std::vector<DeviceInfo> devices, std::vector<std::string> targets)
    : Platform(hip->runtime().calls, std::move(devices)),
      hip_(hip),
      code_(std::move(hip), std::move(targets)),
      modules_(user_modules(hip_)) {}

Status HipPlatform::get_ready() {
  if (probed_) { return {}; }
  const Result<PriorityEffect> effect = probe_priority(*this);
  if (!effect && effect.error().kind != ErrorKind::invalid_input) { return effect.error(); }
  probed_ = true;
  priority_acts_ = effect ? effect->acts() : Status(effect.error());
  return {};
}

Result<gpu::OwnFunction> HipPlatform::function(const std::string& name, int device) {
  const Result<gpu::Function> found = code_.function(name, device);
  if (!found) { return found.error(); }
  return gpu::OwnFunction{*found, kThreads};
}

Result<gpu::Function> HipPlatform::module_function(const std::string& file, const std::string& name, int device) {
  if (Status used = runtime().use_device(device); !used) { return used.error(); }
  return modules_.function(file, name, device);
}

// HIP counts a grid in threads and wants fewer than 2^32 of them in a direction.
std::int64_t HipPlatform::most_blocks(Threads threads) const { return (std::int64_t{1} << 32) / threads.count() - 1; }

Result<std::unique_ptr<gpu::BlasLibrary>> HipPlatform::blas() const { return load_rocblas(hip_->generation()); }

Result<std::unique_ptr<gpu::StartLine>> HipPlatform::start_line(const std::vector<int>& devices) {
  return make_start_line(*hip_, runtime(), code_, devices);
}

Capabilities HipPlatform::capabilities(const gpu::CommLibrary& comm) const {
  Capabilities can = capabilities_of(devices().front().limits);
  can.urgent_streams = priority_acts_;
  if (!comm.has_budgets()) {
    can.block_budgets = invalid_input(fmt::format("RCCL {} takes no block budget, expected 2.17 or later", comm.version()));
  }
  return can;
}

Result<std::optional<Sms>> HipPlatform::left_out(const Lane& lane, const ComputeSettings& settings) const {
  if (!settings.sm_target) { return Platform::left_out(lane, settings); }
  if (lane.leaving_out) {
    return invalid_input(elbowroom::detail::refusal_of<&OverlapPlan::sm_target>(fmt::format(
        "acts through the CU mask that {} sets; expected one of them", elbowroom::detail::name_of<&OverlapPlan::comm_sms>())));
  }
  const Sms left_out = devices().front().limits.sms - *settings.sm_target;
  return left_out == Sms(0) ? std::nullopt : std::optional(left_out);
}

Result<gpu::SmPartition> HipPlatform::partition(Sms left_out, int) const {
  const Sms all = devices().front().limits.sms;
  Result<gpu::Stream> stream = make_masked_stream(*hip_, all - left_out, all);
  if (!stream) { return stream.error(); }
  return gpu::SmPartition{nullptr, std::move(*stream)};
}

Status HipPlatform::observes_launches() const {
  const Capabilities can = capabilities_of(devices().front().limits);
  return invalid_input(elbowroom::detail::refusal_of<&OverlapPlan::launch_gate>(can.begun_events.error().message));
}

Status HipPlatform::launch_observed(const std::vector<gpu::StreamHandle>&, const std::vector<gpu::EventHandle>&,
                                    const std::function<Status()>&) const {
  return observes_launches();
}

Result<Timeline> HipPlatform::record(const std::function<Status()>&) const {
  return unavailable("kernel records: the hip backend has no recorder");
}

}  // namespace elbowroom::hip
