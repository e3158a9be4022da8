// The planner against the driver's own occupancy calculator, for every kernel of the bench under every pad that matters.
#include "elbowroom/plan/occupancy.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend_cuda/compiled_kernels.hpp"
#include "backend_cuda/cuda_platform.hpp"
#include "backend_gpu/own_kernel.hpp"
#include "elbowroom/plan/pad_ranges.hpp"
#include "live_gpu.hpp"

namespace elbowroom {
namespace {

std::vector<cuda::CompiledKernel> bench_kernels() {
  std::vector<cuda::CompiledKernel> kernels = cuda::tiled_gemm_kernels();
  kernels.insert(kernels.end(), cuda::elementwise_kernels().begin(), cuda::elementwise_kernels().end());
  return kernels;
}

/// The kernel's footprint, once its launches may be padded.
Result<KernelFootprint> footprint_of(const Backend& backend, const cuda::CompiledKernel& kernel) {
  const auto platform = cuda::CudaPlatform::make(backend.devices(), {});
  if (!platform) { return platform.error(); }
  const Result<gpu::OwnKernel> own = gpu::OwnKernel::make(**platform, kernel.name, Extent{}, {0});
  if (!own) { return own.error(); }
  return *own->facts().footprint;
}

int driver_residency(const cuda::CompiledKernel& kernel, Bytes pad) {
  int blocks = -1;
  EXPECT_EQ(cudaSuccess,
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.symbol, static_cast<int>(kernel.threads.count()),
                                                          static_cast<std::size_t>(pad.count())))
      << kernel.name << " pad " << pad.count();
  return blocks;
}

TEST(LiveOccupancy, EveryWindowOfEveryKernelIsTheDrivers) {
  const auto backend = testing::live_backend(1);
  if (!backend) { return; }
  const DeviceLimits& limits = backend->devices().front().limits;
  for (const cuda::CompiledKernel& kernel : bench_kernels()) {
    const Result<KernelFootprint> footprint = footprint_of(*backend, kernel);
    ASSERT_TRUE(footprint) << footprint.error().message;
    const Result<std::vector<PadRange>> ranges = pad_ranges(limits, *footprint);
    ASSERT_TRUE(ranges) << ranges.error().message;
    for (const PadRange& range : *ranges) {
      for (const Bytes pad : {range.pad_min, range.pad_max}) {
        EXPECT_EQ(range.blocks_per_sm.count(), driver_residency(kernel, pad)) << kernel.name << " pad " << pad.count();
      }
    }
  }
}

TEST(LiveOccupancy, EveryKibibyteOfPaddingAgrees) {
  const auto backend = testing::live_backend(1);
  if (!backend) { return; }
  const DeviceLimits& limits = backend->devices().front().limits;
  int compared = 0;
  for (const cuda::CompiledKernel& kernel : bench_kernels()) {
    Result<KernelFootprint> footprint = footprint_of(*backend, kernel);
    ASSERT_TRUE(footprint) << footprint.error().message;
    for (Bytes pad; footprint->static_shared + pad <= limits.shared_per_block; pad += kibibytes(1)) {
      footprint->dynamic_shared = pad;
      const Result<Occupancy> planned = occupancy(limits, *footprint);
      ASSERT_TRUE(planned) << planned.error().message;
      EXPECT_EQ(planned->residency.count(), driver_residency(kernel, pad)) << kernel.name << " pad " << pad.count();
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace elbowroom
