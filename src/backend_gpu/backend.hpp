#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend_gpu/on_devices.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/backend/registry.hpp"

namespace elbowroom::gpu {

/// The backend of one vendor's GPUs.
class GpuBackend final : public Backend {
 public:
  /// `versions` are those of the runtime and what is set for it. Without a communication library no scenario can be prepared.
  GpuBackend(std::shared_ptr<Platform> platform, Result<CommLibrary> comm,
             std::vector<std::pair<std::string, std::string>> versions, const BackendOptions& options);

  [[nodiscard]] std::string_view name() const override { return machine_.platform->name(); }
  [[nodiscard]] Provenance provenance() const override { return Provenance::measured; }
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const override { return machine_.platform->devices(); }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const override { return versions_; }
  [[nodiscard]] Result<Capabilities> capabilities() const override;

  using Backend::prepare;
  Result<std::unique_ptr<Workload>> prepare(const Step& step) override;
  Result<std::unique_ptr<Launcher>> launcher(int gpus) override;

 private:
  Machine machine_;
  std::vector<std::pair<std::string, std::string>> versions_;
  BackendOptions options_;
  Error without_comm_;
};

/// Those of the process' devices that its ranks run on. `unavailable` names the first that is not the one that the user asked for;
/// `invalid_input` where a rank has no device.
Result<std::vector<DeviceInfo>> devices_for(std::vector<DeviceInfo> devices, const BackendOptions& options);

}  // namespace elbowroom::gpu
