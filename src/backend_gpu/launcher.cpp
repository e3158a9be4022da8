#include "backend_gpu/launcher.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "backend_gpu/handles.hpp"
#include "backend_gpu/own_kernel.hpp"
#include "elbowroom/plan/controls.hpp"

namespace elbowroom::gpu {
namespace {

/// One launch of compute can be padded. The collective's priority acts through the stream it is put on; everything else needs both
/// sides.
Status one_launch_can(const OverlapPlan& plan) {
  for (const Control& control : controls()) {
    if (control.name == "blocks_per_sm" || control.name == "priority" || !control.get(plan)) continue;
    return invalid_input(
        fmt::format("{}: a launch cannot carry it out, expected a plan of pad_bytes, blocks_per_sm and priority", control.name));
  }
  return {};
}

struct Lanes {
  gpu::Stream compute;
  gpu::Stream comm;
};

class GpuLauncher final : public Launcher {
 public:
  GpuLauncher(std::shared_ptr<const Platform> platform, std::vector<Lanes> lanes)
      : platform_(std::move(platform)), lanes_(std::move(lanes)) {}

  [[nodiscard]] elbowroom::Stream compute_stream(int device) const override {
    return elbowroom::Stream::from_native(device, lanes_[static_cast<std::size_t>(device)].compute.get());
  }
  [[nodiscard]] elbowroom::Stream comm_stream(int device) const override {
    return elbowroom::Stream::from_native(device, lanes_[static_cast<std::size_t>(device)].comm.get());
  }

  Result<KernelFootprint> footprint(Kernel kernel, Extent block, Bytes dynamic_shared) override {
    const Threads threads(std::int64_t{block.x} * block.y * block.z);
    const Runtime& runtime = platform_->runtime();
    Result<KernelFootprint> footprint = read_footprint(runtime, runtime.calls.application, function_of(kernel), threads);
    if (footprint) footprint->dynamic_shared = dynamic_shared;
    return footprint;
  }

  Status launch(Kernel kernel, Extent grid, Extent block, std::span<void*> arguments, Bytes dynamic_shared,
                elbowroom::Stream stream, const OverlapPlan& plan) override {
    if (Status possible = one_launch_can(plan); !possible) return possible;
    for (const auto& [name, size] : {std::pair{"pad_bytes", plan.pad}, {"dynamic_shared", dynamic_shared}}) {
      if (size < Bytes(0) || size > kGreatestShared) {
        return invalid_input(fmt::format("{}: {}, expected 0 to {}", name, size.count(), kGreatestShared.count()));
      }
    }
    const Runtime& runtime = platform_->runtime();
    const DeviceScope scope(runtime);
    if (Status used = runtime.use_device(stream.device()); !used) return used;
    const Bytes shared = dynamic_shared + plan.pad;
    const KernelCalls& kernels = runtime.calls.application;
    if (plan.pad > Bytes(0)) {
      if (Status allowed = allow_dynamic_shared(runtime, kernels, function_of(kernel), shared); !allowed) return allowed;
    }
    return runtime.call(kernels.launch, function_of(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                        static_cast<unsigned>(shared.count()), static_cast<StreamHandle>(stream.native()), arguments.data(),
                        nullptr);
  }

  Status synchronize() override {
    const Runtime& runtime = platform_->runtime();
    const DeviceScope scope(runtime);
    for (std::size_t device = 0; device < lanes_.size(); ++device) {
      if (Status used = runtime.use_device(static_cast<int>(device)); !used) return used;
      for (const gpu::Stream* stream : {&lanes_[device].compute, &lanes_[device].comm}) {
        if (Status idle = runtime.call(runtime.calls.stream_synchronize, stream->get()); !idle) return idle;
      }
    }
    return {};
  }

 private:
  // More than any SM has; the runtime refuses what this device cannot give.
  static constexpr Bytes kGreatestShared = mebibytes(1);

  static Function function_of(Kernel kernel) { return static_cast<Function>(kernel.native()); }

  std::shared_ptr<const Platform> platform_;
  std::vector<Lanes> lanes_;
};

Result<Lanes> make_lanes(const Runtime& runtime, int device) {
  if (Status used = runtime.use_device(device); !used) return used.error();
  const Result<int> greatest = greatest_priority(runtime);
  if (!greatest) return greatest.error();
  Result<gpu::Stream> compute = make_stream(runtime, kNormalPriority);
  if (!compute) return compute.error();
  Result<gpu::Stream> comm = make_stream(runtime, *greatest);
  if (!comm) return comm.error();
  return Lanes{std::move(*compute), std::move(*comm)};
}

}  // namespace

Result<std::unique_ptr<Launcher>> make_launcher(std::shared_ptr<const Platform> platform, int gpus) {
  const DeviceScope scope(platform->runtime());
  std::vector<Lanes> lanes;
  for (int device = 0; device < gpus; ++device) {
    Result<Lanes> made = make_lanes(platform->runtime(), device);
    if (!made) return made.error();
    lanes.push_back(std::move(*made));
  }
  return std::unique_ptr<Launcher>(std::make_unique<GpuLauncher>(std::move(platform), std::move(lanes)));
}

}  // namespace elbowroom::gpu
