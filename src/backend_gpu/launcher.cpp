#include "backend_gpu/launcher.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "backend_gpu/handles.hpp"
#include "backend_gpu/own_kernel.hpp"
#include "plan/control_name.hpp"

namespace elbowroom::gpu {
namespace {

struct Lanes {
  gpu::Stream compute;
  gpu::Stream comm;
};

StreamHandle handle_of(const elbowroom::Stream& stream) { return static_cast<StreamHandle>(stream.native()); }

int number_of(DeviceIndex device) { return static_cast<int>(device); }

/// Records an event on each communication stream when the collective has begun, and lets the compute stream of its device wait.
class EventGate final : public CollectiveGate {
 public:
  static Result<std::unique_ptr<CollectiveGate>> make(std::shared_ptr<const Platform> platform,
                                                      std::span<const StreamPair> streams) {
    if (Status observes = platform->observes_launches(); !observes) { return unavailable(observes.error().message); }
    const Runtime& runtime = platform->runtime();
    const DeviceScope scope(runtime);
    std::vector<Event> events;
    for (const StreamPair& pair : streams) {
      if (Status used = runtime.use_device(number_of(pair.comm.device())); !used) { return used.error(); }
      Result<Event> event = make_event(runtime, EventUse::ordering);
      if (!event) { return event.error(); }
      events.push_back(std::move(*event));
    }
    return std::unique_ptr<CollectiveGate>(new EventGate(std::move(platform), streams, std::move(events)));
  }

  Status around(const std::function<Status()>& collective) override {
    std::vector<StreamHandle> comm;
    std::vector<EventHandle> begun;
    for (std::size_t at = 0; at < streams_.size(); ++at) {
      comm.push_back(handle_of(streams_[at].comm));
      begun.push_back(events_[at].get());
    }
    if (Status launched = platform_->launch_observed(comm, begun, collective); !launched) { return launched; }
    const Runtime& runtime = platform_->runtime();
    const DeviceScope scope(runtime);
    for (std::size_t at = 0; at < streams_.size(); ++at) {
      if (Status used = runtime.use_device(number_of(streams_[at].compute.device())); !used) { return used; }
      const Status waits = runtime.call(runtime.calls.stream_wait_event, handle_of(streams_[at].compute), begun[at], 0);
      if (!waits) { return waits; }
    }
    return {};
  }

 private:
  EventGate(std::shared_ptr<const Platform> platform, std::span<const StreamPair> streams, std::vector<Event> events)
      : platform_(std::move(platform)), streams_(streams.begin(), streams.end()), events_(std::move(events)) {}

  std::shared_ptr<const Platform> platform_;
  std::vector<StreamPair> streams_;
  std::vector<Event> events_;  ///< by stream
};

class GpuLauncher final : public Launcher {
 public:
  GpuLauncher(std::shared_ptr<const Platform> platform, std::vector<Lanes> lanes)
      : platform_(std::move(platform)), lanes_(std::move(lanes)) {
    for (std::size_t at = 0; at < lanes_.size(); ++at) {
      const auto seen = [&](const gpu::Stream& stream) {
        return elbowroom::Stream::from_native(platform_->name(), static_cast<DeviceIndex>(at), stream.get());
      };
      streams_.push_back({seen(lanes_[at].compute), seen(lanes_[at].comm)});
    }
  }

  [[nodiscard]] std::span<const StreamPair> streams() const override { return streams_; }

  Result<bool> goes_first(const elbowroom::Stream& stream) override {
    const DeviceScope scope(runtime());
    if (Status used = runtime().use_device(number_of(stream.device())); !used) { return used.error(); }
    const Result<int> greatest = greatest_priority(runtime());
    if (!greatest) { return greatest.error(); }
    int priority = 0;
    if (Status asked = runtime().call(runtime().calls.stream_get_priority, handle_of(stream), &priority); !asked) {
      return asked.error();
    }
    // The numerically smallest is the greatest. Where all are equal nothing goes first.
    return *greatest < kNormalPriority && priority <= *greatest;
  }

  Result<KernelFootprint> footprint(Kernel kernel, Extent block, Bytes dynamic_shared) override {
    const Threads threads(std::int64_t{block.x} * block.y * block.z);
    Result<KernelFootprint> footprint = read_footprint(runtime(), runtime().calls.application, function_of(kernel), threads);
    if (footprint) { footprint->dynamic_shared = dynamic_shared; }
    return footprint;
  }

  Status launch(Kernel kernel, const LaunchSize& size, std::span<void*> arguments, const elbowroom::Stream& stream,
                const ComputeSettings& settings) override {
    ComputeSettings rest = settings;
    rest.pad = Bytes(0);
    if (rest != ComputeSettings{}) {
      return invalid_input("settings: more than a pad, which is all that an application's kernel takes");
    }
    for (const auto& [name, bytes] :
         {std::pair<std::string_view, Bytes>{elbowroom::detail::name_of<&OverlapPlan::pad>(), settings.pad},
          {"dynamic_shared", size.dynamic_shared}}) {
      if (bytes < Bytes(0) || bytes > kGreatestShared) {
        return invalid_input(fmt::format("{}: {}, expected 0 to {}", name, bytes.count(), kGreatestShared.count()));
      }
    }
    const DeviceScope scope(runtime());
    if (Status used = runtime().use_device(number_of(stream.device())); !used) { return used; }
    const Bytes shared = size.dynamic_shared + settings.pad;
    const KernelCalls& kernels = runtime().calls.application;
    if (settings.pad > Bytes(0)) {
      if (Status allowed = allow_dynamic_shared(runtime(), kernels, function_of(kernel), shared); !allowed) { return allowed; }
    }
    return runtime().call(kernels.launch, function_of(kernel), size.grid.x, size.grid.y, size.grid.z, size.block.x, size.block.y,
                          size.block.z, static_cast<unsigned>(shared.count()), handle_of(stream), arguments.data(), nullptr);
  }

  Result<std::unique_ptr<CollectiveGate>> gate(std::span<const StreamPair> streams) override {
    return EventGate::make(platform_, streams);
  }

  Status synchronize(const elbowroom::Stream& stream) override {
    const DeviceScope scope(runtime());
    if (Status used = runtime().use_device(number_of(stream.device())); !used) { return used; }
    return runtime().call(runtime().calls.stream_synchronize, handle_of(stream));
  }

  Result<DeviceIndex> current_device() override {
    int device = 0;
    if (Status asked = runtime().call(runtime().calls.get_device, &device); !asked) { return asked.error(); }
    return static_cast<DeviceIndex>(device);
  }
  Status use_device(DeviceIndex device) override { return runtime().use_device(number_of(device)); }

 private:
  // More than any SM has; the runtime refuses what this device cannot give.
  static constexpr Bytes kGreatestShared = mebibytes(1);

  static Function function_of(Kernel kernel) { return static_cast<Function>(kernel.native()); }
  [[nodiscard]] const Runtime& runtime() const { return platform_->runtime(); }

  std::shared_ptr<const Platform> platform_;
  std::vector<Lanes> lanes_;
  std::vector<StreamPair> streams_;  ///< the same, as others see them
};

Result<Lanes> make_lanes(const Runtime& runtime, int device) {
  if (Status used = runtime.use_device(device); !used) { return used.error(); }
  const Result<int> greatest = greatest_priority(runtime);
  if (!greatest) { return greatest.error(); }
  Result<gpu::Stream> compute = make_stream(runtime, kNormalPriority);
  if (!compute) { return compute.error(); }
  Result<gpu::Stream> comm = make_stream(runtime, *greatest);
  if (!comm) { return comm.error(); }
  return Lanes{std::move(*compute), std::move(*comm)};
}

}  // namespace

Result<std::unique_ptr<Launcher>> make_launcher(std::shared_ptr<const Platform> platform, int gpus) {
  const DeviceScope scope(platform->runtime());
  std::vector<Lanes> lanes;
  for (int device = 0; device < gpus; ++device) {
    Result<Lanes> made = make_lanes(platform->runtime(), device);
    if (!made) { return made.error(); }
    lanes.push_back(std::move(*made));
  }
  return std::unique_ptr<Launcher>(std::make_unique<GpuLauncher>(std::move(platform), std::move(lanes)));
}

}  // namespace elbowroom::gpu
