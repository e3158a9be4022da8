#include "backend_gpu/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "backend_gpu/launcher.hpp"
#include "backend_gpu/workload.hpp"

namespace elbowroom::gpu {

GpuBackend::GpuBackend(std::shared_ptr<Platform> platform, Result<CommLibrary> comm,
                       std::vector<std::pair<std::string, std::string>> versions, const BackendOptions& options)
    : machine_{std::move(platform), nullptr}, versions_(std::move(versions)), options_(options) {
  if (!comm) {
    without_comm_ = comm.error();
    return;
  }
  std::string name(comm->name());
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  versions_.emplace_back(std::move(name), comm->version());
  machine_.comm = std::make_shared<const CommLibrary>(std::move(*comm));
}

Result<Capabilities> GpuBackend::capabilities() const {
  if (machine_.comm == nullptr) { return without_comm_; }
  return machine_.platform->capabilities(*machine_.comm);
}

Result<std::unique_ptr<Workload>> GpuBackend::prepare(const Step& step) {
  if (machine_.comm == nullptr) { return without_comm_; }
  const int most = options_.own_rank ? options_.own_rank->size : static_cast<int>(devices().size());
  if (step.ranks > most) {
    return invalid_input(
        fmt::format("gpus: {}, expected at most {} (devices that {} shows)", step.ranks, most, machine_.platform->title()));
  }
  if (Status ready = machine_.platform->get_ready(); !ready) { return ready.error(); }
  return GpuWorkload::make(step, machine_, options_);
}

Result<std::unique_ptr<Launcher>> GpuBackend::launcher(int gpus) {
  if (gpus < 0 || gpus > static_cast<int>(devices().size())) {
    return invalid_input(
        fmt::format("gpus: {}, expected 0 to {} (devices that {} shows)", gpus, devices().size(), machine_.platform->title()));
  }
  return make_launcher(machine_.platform, gpus);
}

Result<std::vector<DeviceInfo>> devices_for(std::vector<DeviceInfo> devices, const BackendOptions& options) {
  if (options.own_rank) {
    // Some launchers show each of their processes one GPU alone.
    const auto own = devices.size() == 1 ? 0 : static_cast<std::size_t>(options.own_rank->local);
    if (own >= devices.size()) {
      return invalid_input(fmt::format("rank on its host: {}, expected 0 to {} (it sees {} GPUs)", options.own_rank->local,
                                       devices.size() - 1, devices.size()));
    }
    devices = {devices[own]};
  }
  for (const DeviceInfo& device : devices) {
    if (options.device == "auto" || device.limits.name == options.device) { continue; }
    return unavailable(fmt::format("device: '{}' was asked for, GPU {} is {}", options.device, device.index, device.limits.name));
  }
  return devices;
}

}  // namespace elbowroom::gpu
