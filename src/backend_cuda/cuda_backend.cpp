#include <memory>
#include <utility>
#include <vector>

#include "backend/leaves.hpp"
#include "backend_cuda/cuda_platform.hpp"
#include "backend_cuda/live_devices.hpp"
#include "backend_cuda/nccl_library.hpp"
#include "backend_gpu/backend.hpp"

namespace elbowroom::detail {

Result<std::unique_ptr<Backend>> open_cuda(const BackendOptions& options) {
  Result<std::vector<DeviceInfo>> devices = cuda::live_devices();
  if (!devices) { return devices.error(); }
  Result<std::vector<DeviceInfo>> own = gpu::devices_for(*std::move(devices), options);
  if (!own) { return own.error(); }
  Result<cuda::NcclLibrary> nccl = cuda::load_nccl();
  auto platform = cuda::CudaPlatform::make(*std::move(own), nccl ? nccl->launches_observed : Status());
  if (!platform) { return platform.error(); }
  Result<gpu::CommLibrary> comm = nccl ? Result<gpu::CommLibrary>(std::move(nccl->comm)) : nccl.error();
  return std::unique_ptr<Backend>(
      std::make_unique<gpu::GpuBackend>(std::move(*platform), std::move(comm), cuda::live_versions(), options));
}

}  // namespace elbowroom::detail
