#include "elbowroom/runtime/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/experiment/stored_plans.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/shape.hpp"
#include "plan/control_name.hpp"

namespace elbowroom {
namespace {

BackendOptions telling(const NoticeSink& notice) {
  BackendOptions options;
  options.notice = notice;
  return options;
}

/// Streams of one backend, one pair for each device.
Status check_streams(std::span<const StreamPair> streams) {
  if (streams.empty()) { return invalid_input("streams: none, expected a pair of at least one device"); }
  std::vector<DeviceIndex> devices;
  for (const StreamPair& pair : streams) {
    for (const Stream* stream : {&pair.compute, &pair.comm}) {
      if (stream->backend() == streams.front().compute.backend()) { continue; }
      return invalid_input(
          fmt::format("streams: of {} and {}, expected those of one vendor", streams.front().compute.backend(), stream->backend()));
    }
    const int device = static_cast<int>(pair.compute.device());
    if (pair.compute.device() != pair.comm.device()) {
      return invalid_input(
          fmt::format("streams: a pair of devices {} and {}, expected one device", device, static_cast<int>(pair.comm.device())));
    }
    if (pair.compute == pair.comm) {
      return invalid_input(fmt::format("streams: device {} has one stream for both sides, expected two", device));
    }
    if (std::ranges::find(devices, pair.compute.device()) != devices.end()) {
      return invalid_input(fmt::format("streams: two pairs of device {}, expected one", device));
    }
    devices.push_back(pair.compute.device());
  }
  return {};
}

/// One launch of compute can be padded. The collective's priority acts through the stream it is put on; everything else needs both
/// sides.
Status one_launch_can(const OverlapPlan& plan) {
  OverlapPlan rest = plan;
  rest.blocks_per_sm.reset();
  rest.priority = false;
  for (const Control& control : controls()) {
    if (!control.get(rest)) { continue; }
    return invalid_input(fmt::format("{}: a launch cannot carry it out, expected a plan of {}, {} and {}", control.name,
                                     detail::name_of<&OverlapPlan::pad>(), detail::name_of<&OverlapPlan::blocks_per_sm>(),
                                     detail::name_of<&OverlapPlan::priority>()));
  }
  return {};
}

}  // namespace

DeviceGuard::~DeviceGuard() {
  // A destructor has nobody to report an error to. A guard that was moved from holds nothing.
  if (launcher_) { static_cast<void>(launcher_->use_device(before_)); }
}

Session::Session(std::unique_ptr<Backend> backend, std::shared_ptr<Launcher> launcher, std::vector<SessionDevice> devices)
    : backend_(std::move(backend)), launcher_(std::move(launcher)), devices_(std::move(devices)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const SessionOptions& options) {
  Result<std::unique_ptr<Backend>> backend = open_backend(options.backend, telling(options.notice));
  if (!backend) { return backend.error(); }
  const int present = static_cast<int>((*backend)->devices().size());
  const int gpus = options.gpus.value_or(present);
  if (gpus < 1 || gpus > present) {
    return invalid_input(fmt::format("gpus: {}, expected 1 to {} (devices of backend {})", gpus, present, (*backend)->name()));
  }
  Result<std::unique_ptr<Launcher>> launcher = (*backend)->launcher(gpus);
  if (!launcher) { return launcher.error(); }
  const std::span<const StreamPair> streams = (*launcher)->streams();
  return on(std::move(*backend), std::move(*launcher), streams);
}

Result<Session> Session::attach(std::span<const StreamPair> streams, const NoticeSink& notice) {
  if (Status checked = check_streams(streams); !checked) { return checked.error(); }
  Result<std::unique_ptr<Backend>> backend = open_backend(streams.front().compute.backend(), telling(notice));
  if (!backend) { return backend.error(); }
  const int present = static_cast<int>((*backend)->devices().size());
  for (const StreamPair& pair : streams) {
    const int device = static_cast<int>(pair.compute.device());
    if (device >= 0 && device < present) { continue; }
    return invalid_input(
        fmt::format("device: {}, expected 0 to {} (devices of backend {})", device, present - 1, (*backend)->name()));
  }
  Result<std::unique_ptr<Launcher>> launcher = (*backend)->launcher(0);
  if (!launcher) { return launcher.error(); }
  return on(std::move(*backend), std::move(*launcher), streams);
}

Result<Session> Session::on(std::unique_ptr<Backend> backend, std::unique_ptr<Launcher> launcher,
                            std::span<const StreamPair> streams) {
  std::vector<SessionDevice> devices;
  for (const StreamPair& pair : streams) {
    const Result<bool> first = launcher->goes_first(pair.comm);
    if (!first) { return first.error(); }
    devices.push_back({backend->devices()[static_cast<std::size_t>(pair.compute.device())], pair, *first});
  }
  return Session(std::move(backend), std::move(launcher), std::move(devices));
}

Result<DeviceGuard> Session::use(const SessionDevice& device) {
  const Result<DeviceIndex> before = launcher_->current_device();
  if (!before) { return before.error(); }
  if (Status used = launcher_->use_device(device.streams.compute.device()); !used) { return used.error(); }
  return DeviceGuard(launcher_, *before);
}

Status Session::is_here(std::string_view what, std::string_view backend) const {
  if (backend == backend_->name()) { return {}; }
  return invalid_input(fmt::format("{}: of {}, expected one of {}, the session's backend", what, backend, backend_->name()));
}

Result<OverlapPlan> Session::shape_of(const Kernel& kernel, const LaunchSize& size, BlocksPerSm residency) {
  if (Status here = is_here("kernel", kernel.backend()); !here) { return here.error(); }
  const Result<KernelFootprint> footprint = launcher_->footprint(kernel, size.block, size.dynamic_shared);
  if (!footprint) { return footprint.error(); }
  return shape_to(devices_.front().info.limits, *footprint, residency);
}

Result<StoredChoice> Session::stored_choice_of(const Kernel& kernel, const LaunchSize& size, const Scenario& scenario,
                                               const Profile& profile) {
  if (Status here = is_here("kernel", kernel.backend()); !here) { return here.error(); }
  const Result<KernelFootprint> footprint = launcher_->footprint(kernel, size.block, size.dynamic_shared);
  if (!footprint) { return footprint.error(); }
  const Result<Capabilities> can = backend_->capabilities();
  if (!can) { return can.error(); }
  const Result<ControlSite> site = control_site(scenario, devices_.front().info.limits, *footprint, std::nullopt, *can);
  if (!site) { return site.error(); }
  return elbowroom::stored_choice(profile, surroundings_of(*backend_), scenario, *site);
}

Status Session::launch_of(const Kernel& kernel, const LaunchSize& size, const Stream& stream, const OverlapPlan& plan,
                          std::span<void*> arguments) {
  if (Status here = is_here("kernel", kernel.backend()); !here) { return here; }
  if (Status here = is_here("stream", stream.backend()); !here) { return here; }
  const auto device =
      std::ranges::find(devices_, stream.device(), [](const SessionDevice& one) { return one.streams.compute.device(); });
  const int number = static_cast<int>(stream.device());
  if (device == devices_.end()) { return invalid_input(fmt::format("stream: of device {}, which is not the session's", number)); }
  if (plan.priority && !device->comm_goes_first) {
    return invalid_input(detail::refusal_of<&OverlapPlan::priority>(
        fmt::format("the communication stream of device {} has not the device's greatest", number)));
  }
  if (Status possible = one_launch_can(plan); !possible) { return possible; }
  return launcher_->launch(kernel, size, arguments, stream, plan);
}

Result<std::unique_ptr<CollectiveGate>> Session::launch_gate() {
  std::vector<StreamPair> streams;
  streams.reserve(devices_.size());
  for (const SessionDevice& device : devices_) { streams.push_back(device.streams); }
  return launcher_->gate(streams);
}

Status Session::synchronize() {
  for (const SessionDevice& device : devices_) {
    for (const Stream* stream : {&device.streams.compute, &device.streams.comm}) {
      if (Status idle = launcher_->synchronize(*stream); !idle) { return idle; }
    }
  }
  return {};
}

}  // namespace elbowroom
