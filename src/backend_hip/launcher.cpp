#include "backend_hip/launcher.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "backend_hip/handles.hpp"
#include "backend_hip/own_kernel.hpp"

namespace elbowroom::hip {
namespace {

struct Lanes {
  hip::Stream compute;
  hip::Stream comm;
};

class HipLauncher final : public Launcher {
 public:
  HipLauncher(std::shared_ptr<const HipLibrary> hip, std::vector<Lanes> lanes) : hip_(std::move(hip)), lanes_(std::move(lanes)) {}

  [[nodiscard]] elbowroom::Stream compute_stream(int device) const override {
    return elbowroom::Stream::from_native(device, lanes_[static_cast<std::size_t>(device)].compute.get());
  }
  [[nodiscard]] elbowroom::Stream comm_stream(int device) const override {
    return elbowroom::Stream::from_native(device, lanes_[static_cast<std::size_t>(device)].comm.get());
  }

  Result<KernelFootprint> footprint(Kernel kernel, Extent block, Bytes dynamic_shared) override {
    const Threads threads(std::int64_t{block.x} * block.y * block.z);
    Result<KernelFootprint> footprint = read_footprint(*hip_, static_cast<HipFunction>(kernel.native()), threads);
    if (footprint) footprint->dynamic_shared = dynamic_shared;
    return footprint;
  }

  Status launch(Kernel kernel, Extent grid, Extent block, std::span<void*> arguments, Bytes dynamic_shared,
                elbowroom::Stream stream, const OverlapPlan& plan) override {
    for (const auto& [name, size] : {std::pair{"pad_bytes", plan.pad}, {"dynamic_shared", dynamic_shared}}) {
      if (size < Bytes(0) || size > kGreatestShared) {
        return invalid_input(fmt::format("{}: {}, expected 0 to {}", name, size.count(), kGreatestShared.count()));
      }
    }
    if (Status used = hip_->use_device(stream.device()); !used) return used;
    const Bytes shared = dynamic_shared + plan.pad;
    return hip_->check(hip_->functions.module_launch_kernel(static_cast<HipFunction>(kernel.native()), grid.x, grid.y, grid.z,
                                                            block.x, block.y, block.z, static_cast<unsigned>(shared.count()),
                                                            static_cast<HipStream>(stream.native()), arguments.data(), nullptr),
                       "hipModuleLaunchKernel");
  }

  Status synchronize() override {
    for (std::size_t device = 0; device < lanes_.size(); ++device) {
      if (Status used = hip_->use_device(static_cast<int>(device)); !used) return used;
      for (const hip::Stream* stream : {&lanes_[device].compute, &lanes_[device].comm}) {
        if (Status idle = hip_->check(hip_->functions.stream_synchronize(stream->get()), "hipStreamSynchronize"); !idle)
          return idle;
      }
    }
    return {};
  }

 private:
  // More than any compute unit has; the runtime refuses what this device cannot give.
  static constexpr Bytes kGreatestShared = mebibytes(1);

  std::shared_ptr<const HipLibrary> hip_;
  std::vector<Lanes> lanes_;
};

Result<Lanes> make_lanes(const HipLibrary& hip, int device) {
  if (Status used = hip.use_device(device); !used) return used.error();
  const Result<int> greatest = greatest_priority(hip);
  if (!greatest) return greatest.error();
  Result<hip::Stream> compute = make_stream(hip, kNormalPriority);
  if (!compute) return compute.error();
  Result<hip::Stream> comm = make_stream(hip, *greatest);
  if (!comm) return comm.error();
  return Lanes{std::move(*compute), std::move(*comm)};
}

}  // namespace

Result<std::unique_ptr<Launcher>> make_launcher(std::shared_ptr<const HipLibrary> hip, int gpus) {
  std::vector<Lanes> lanes;
  for (int device = 0; device < gpus; ++device) {
    Result<Lanes> made = make_lanes(*hip, device);
    if (!made) return made.error();
    lanes.push_back(std::move(*made));
  }
  return std::unique_ptr<Launcher>(std::make_unique<HipLauncher>(std::move(hip), std::move(lanes)));
}

}  // namespace elbowroom::hip
