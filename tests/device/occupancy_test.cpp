// The planner against the driver's own occupancy calculator, for every kernel of the bench under every pad that matters.
#include "elbowroom/plan/occupancy.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend_cuda/elementwise_kernels.hpp"
#include "backend_cuda/own_kernel.hpp"
#include "backend_cuda/tiled_gemm_kernels.hpp"
#include "elbowroom/plan/residency_windows.hpp"
#include "live_gpu.hpp"

namespace elbowroom {
namespace {

struct BenchKernel {
  std::string name;
  Threads threads;
  const void* function;
};

std::vector<BenchKernel> bench_kernels() {
  std::vector<BenchKernel> kernels;
  for (const cuda::TiledGemmVariant& variant : cuda::tiled_gemm_variants()) {
    kernels.push_back({"tiled_gemm " + std::string(to_string(variant.dtype)) + " " + std::to_string(variant.tile_m) + "x" +
                           std::to_string(variant.tile_n) + "x" + std::to_string(variant.tile_k),
                       variant.threads, variant.function});
  }
  for (const cuda::ElementwiseVariant& variant : cuda::elementwise_variants()) {
    kernels.push_back({"elementwise " + std::string(to_string(variant.op)) + " " + std::string(to_string(variant.dtype)),
                       variant.threads, variant.function});
  }
  return kernels;
}

int driver_residency(const BenchKernel& kernel, Bytes pad) {
  int blocks = -1;
  EXPECT_EQ(cudaSuccess,
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, static_cast<int>(kernel.threads.count()),
                                                          static_cast<std::size_t>(pad.count())))
      << kernel.name << " pad " << pad.count();
  return blocks;
}

TEST(LiveOccupancy, EveryWindowOfEveryKernelIsTheDrivers) {
  const auto backend = testing::live_backend(1);
  if (!backend) return;
  const DeviceLimits& limits = backend->devices().front().limits;
  for (const BenchKernel& kernel : bench_kernels()) {
    ASSERT_TRUE(cuda::OwnKernel::make(kernel.function, dim3(1), kernel.threads, 1)) << kernel.name;  // allows padding
    const Result<KernelFootprint> footprint = cuda::read_footprint(kernel.function, kernel.threads);
    ASSERT_TRUE(footprint) << footprint.error().message;
    const Result<std::vector<ResidencyWindow>> windows = residency_windows(limits, *footprint);
    ASSERT_TRUE(windows) << windows.error().message;
    for (const ResidencyWindow& window : *windows) {
      for (const Bytes pad : {window.pad_min, window.pad_max}) {
        EXPECT_EQ(window.blocks_per_sm.count(), driver_residency(kernel, pad)) << kernel.name << " pad " << pad.count();
      }
    }
  }
}

TEST(LiveOccupancy, EveryKibibyteOfPaddingAgrees) {
  const auto backend = testing::live_backend(1);
  if (!backend) return;
  const DeviceLimits& limits = backend->devices().front().limits;
  int compared = 0;
  for (const BenchKernel& kernel : bench_kernels()) {
    ASSERT_TRUE(cuda::OwnKernel::make(kernel.function, dim3(1), kernel.threads, 1)) << kernel.name;
    Result<KernelFootprint> footprint = cuda::read_footprint(kernel.function, kernel.threads);
    ASSERT_TRUE(footprint);
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
