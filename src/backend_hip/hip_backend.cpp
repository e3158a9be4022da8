#include <memory>
#include <utility>
#include <vector>

#include "backend/leaves.hpp"
#include "backend_gpu/backend.hpp"
#include "backend_hip/hip_platform.hpp"
#include "backend_hip/live_devices.hpp"
#include "backend_hip/rccl_library.hpp"

namespace elbowroom::detail {

Result<std::unique_ptr<Backend>> open_hip(const BackendOptions& options) {
  Result<std::shared_ptr<const hip::HipLibrary>> library = hip::HipLibrary::load();
  if (!library) { return library.error(); }
  Result<hip::LiveDevices> devices = hip::live_devices(**library);
  if (!devices) { return devices.error(); }
  Result<std::vector<DeviceInfo>> own = gpu::devices_for(std::move(devices->infos), options);
  if (!own) { return own.error(); }
  auto versions = hip::live_versions(**library);
  auto platform = std::make_shared<hip::HipPlatform>(*library, *std::move(own), std::move(devices->targets));
  return std::unique_ptr<Backend>(
      std::make_unique<gpu::GpuBackend>(std::move(platform), hip::load_rccl(), std::move(versions), options));
}

}  // namespace elbowroom::detail
