#include <fmt/format.h>

#include <memory>
#include <optional>

#include "backend/leaves.hpp"
#include "backend_hip/launcher.hpp"
#include "backend_hip/live_devices.hpp"
#include "backend_hip/priority_probe.hpp"
#include "backend_hip/workload.hpp"

namespace elbowroom::hip {
namespace {

class HipBackend final : public Backend {
 public:
  HipBackend(std::shared_ptr<const HipLibrary> hip, LiveDevices devices, Result<RcclLibrary> rccl, const BackendOptions& options)
      : versions_(live_versions(*hip)), options_(options) {
    machine_.hip = hip;
    machine_.code = std::make_shared<DeviceCode>(std::move(hip), std::move(devices.targets));
    machine_.devices = std::move(devices.infos);
    if (rccl) {
      versions_.emplace_back("rccl", rccl->version());
      machine_.rccl = std::make_shared<const RcclLibrary>(std::move(*rccl));
    } else {
      without_rccl_ = rccl.error();
    }
  }

  [[nodiscard]] std::string_view name() const override { return "hip"; }
  [[nodiscard]] Provenance provenance() const override { return Provenance::measured; }
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const override { return machine_.devices; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const override { return versions_; }

  Result<std::unique_ptr<Workload>> prepare(const Scenario& scenario) override {
    if (machine_.rccl == nullptr) return without_rccl_;
    if (Status valid = validate(scenario); !valid) return valid.error();
    if (scenario.gpus > static_cast<int>(machine_.devices.size())) {
      return invalid_input(
          fmt::format("gpus: {}, expected at most {} (devices that HIP shows)", scenario.gpus, machine_.devices.size()));
    }
    if (Status probed = probe_once(); !probed) return probed.error();
    return HipWorkload::make(scenario, machine_, options_.seed, options_.time_limit);
  }

  Result<std::unique_ptr<Launcher>> launcher(int gpus) override {
    if (gpus < 1 || gpus > static_cast<int>(machine_.devices.size())) {
      return invalid_input(fmt::format("gpus: {}, expected 1 to {} (devices that HIP shows)", gpus, machine_.devices.size()));
    }
    return make_launcher(machine_.hip, gpus);
  }

 private:
  /// All devices have one driver: what holds on the first holds on all.
  Status probe_once() {
    if (probed_) return {};
    const Result<PriorityEffect> effect = probe_priority(*machine_.code, machine_.devices.front());
    if (!effect && effect.error().kind != ErrorKind::invalid_input) return effect.error();
    probed_ = true;
    machine_.priority_acts = effect ? effect->acts() : Status(effect.error());
    return {};
  }

  Machine machine_;
  std::vector<std::pair<std::string, std::string>> versions_;
  BackendOptions options_;
  Error without_rccl_;
  bool probed_ = false;
};

}  // namespace
}  // namespace elbowroom::hip

namespace elbowroom::detail {

Result<std::unique_ptr<Backend>> open_hip(const BackendOptions& options) {
  Result<std::shared_ptr<const hip::HipLibrary>> library = hip::HipLibrary::load();
  if (!library) return library.error();
  Result<hip::LiveDevices> devices = hip::live_devices(**library);
  if (!devices) return devices.error();
  for (const DeviceInfo& device : devices->infos) {
    if (options.device == "auto" || device.limits.name == options.device) continue;
    return unavailable(fmt::format("device: '{}' was asked for, GPU {} is {}", options.device, device.index, device.limits.name));
  }
  return std::unique_ptr<Backend>(
      std::make_unique<hip::HipBackend>(*library, std::move(*devices), hip::RcclLibrary::load(), options));
}

}  // namespace elbowroom::detail
