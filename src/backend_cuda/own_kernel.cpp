#include "backend_cuda/own_kernel.hpp"

#include <fmt/format.h>

#include "backend_cuda/handles.hpp"

namespace elbowroom::cuda {

Result<KernelFootprint> read_footprint(const void* function, Threads threads) {
  cudaFuncAttributes attributes{};
  if (Status read = check(cudaFuncGetAttributes(&attributes, function), "cudaFuncGetAttributes"); !read) return read.error();
  KernelFootprint footprint;
  footprint.threads = threads;
  footprint.registers_per_thread = Registers(attributes.numRegs);
  footprint.static_shared = Bytes(static_cast<std::int64_t>(attributes.sharedSizeBytes));
  return footprint;
}

Result<OwnKernel> OwnKernel::make(const void* function, dim3 grid, Threads threads, int gpus) {
  OwnKernel kernel(function, grid, threads);
  for (int device = 0; device < gpus; ++device) {
    if (Status used = use_device(device); !used) return used.error();
    Result<KernelFootprint> footprint = read_footprint(function, threads);
    if (!footprint) return footprint.error();
    int limit = 0;
    if (Status read =
            check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
        !read) {
      return read.error();
    }
    const Bytes room = Bytes(limit) - footprint->static_shared;
    if (Status raised =
            check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room.count())),
                  "cudaFuncSetAttribute");
        !raised) {
      return raised.error();
    }
    kernel.greatest_pad_ = device == 0 ? room : std::min(room, kernel.greatest_pad_);
    kernel.facts_.footprint = *footprint;
  }
  kernel.facts_.blocks = Blocks(static_cast<std::int64_t>(grid.x) * grid.y * grid.z);
  return kernel;
}

Status OwnKernel::accepts(const OverlapPlan& plan) const {
  if (plan.sm_target) return invalid_input("sm_target: acts on library_gemm only, this kernel's grid is the scenario's");
  if (plan.carveout && (*plan.carveout < Percent(0) || *plan.carveout > Percent(100))) {
    return invalid_input(fmt::format("carveout: {}, expected 0 to 100 percent", plan.carveout->count()));
  }
  if (plan.pad < Bytes(0) || plan.pad > greatest_pad_) {
    return invalid_input(fmt::format("pad_bytes: {}, expected 0 to {} for this kernel", plan.pad.count(), greatest_pad_.count()));
  }
  return {};
}

Status OwnKernel::launch(cudaStream_t stream, const OverlapPlan& plan, void** arguments) const {
  cudaLaunchConfig_t config{};
  config.gridDim = grid_;
  config.blockDim = dim3(static_cast<unsigned>(threads_.count()));
  config.dynamicSmemBytes = static_cast<std::size_t>(plan.pad.count());
  config.stream = stream;
  cudaLaunchAttribute carveout{};
  if (plan.carveout) {
    carveout.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    carveout.val.sharedMemCarveout = static_cast<unsigned>(plan.carveout->count());
    config.attrs = &carveout;
    config.numAttrs = 1;
  }
  return check(cudaLaunchKernelExC(&config, function_, arguments), "cudaLaunchKernelExC (compute)");
}

}  // namespace elbowroom::cuda
