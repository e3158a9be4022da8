#include <fmt/format.h>

#include <memory>

#include "backend/leaves.hpp"
#include "backend_cuda/launcher.hpp"
#include "backend_cuda/live_devices.hpp"
#include "backend_cuda/nccl_library.hpp"
#include "backend_cuda/workload.hpp"

namespace elbowroom::cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  CudaBackend(std::vector<DeviceInfo> devices, Result<NcclLibrary> nccl, const BackendOptions& options)
      : devices_(std::move(devices)), versions_(live_versions()), options_(options) {
    if (nccl) {
      versions_.emplace_back("nccl", nccl->version());
      nccl_ = std::make_shared<const NcclLibrary>(std::move(*nccl));
    } else {
      without_nccl_ = nccl.error();
    }
  }

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] Provenance provenance() const override { return Provenance::measured; }
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const override { return devices_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const override { return versions_; }

  Result<std::unique_ptr<Workload>> prepare(const Scenario& scenario) override {
    if (nccl_ == nullptr) return without_nccl_;
    if (Status valid = validate(scenario); !valid) return valid.error();
    if (scenario.gpus > static_cast<int>(devices_.size())) {
      return invalid_input(fmt::format("gpus: {}, expected at most {} (devices that CUDA shows)", scenario.gpus, devices_.size()));
    }
    return CudaWorkload::make(scenario, devices_, nccl_, options_.seed, options_.time_limit);
  }

  Result<std::unique_ptr<Launcher>> launcher(int gpus) override { return make_launcher(gpus); }

 private:
  std::vector<DeviceInfo> devices_;
  std::vector<std::pair<std::string, std::string>> versions_;
  BackendOptions options_;
  std::shared_ptr<const NcclLibrary> nccl_;
  Error without_nccl_;
};

}  // namespace
}  // namespace elbowroom::cuda

namespace elbowroom::detail {

Result<std::unique_ptr<Backend>> open_cuda(const BackendOptions& options) {
  Result<std::vector<DeviceInfo>> devices = cuda::live_devices();
  if (!devices) return devices.error();
  for (const DeviceInfo& device : *devices) {
    if (options.device == "auto" || device.limits.name == options.device) continue;
    return unavailable(fmt::format("device: '{}' was asked for, GPU {} is {}", options.device, device.index, device.limits.name));
  }
  return std::unique_ptr<Backend>(std::make_unique<cuda::CudaBackend>(std::move(*devices), cuda::NcclLibrary::load(), options));
}

}  // namespace elbowroom::detail
