#include "backend_sim/sm_capacity.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom::sim {
namespace {

SmCapacity pair(const DeviceLimits& device, const KernelFootprint& compute, const KernelFootprint& comm,
                std::optional<Percent> carveout = std::nullopt) {
  ComputeProfile computing;
  computing.footprint = compute;
  CommProfile communicating;
  communicating.footprint = comm;
  return *SmCapacity::make(device, {SimKernel{computing, 0, carveout}, SimKernel{communicating, 0, std::nullopt}});
}

/// Most compute blocks beside that many of communication.
int compute_beside(const SmCapacity& capacity, int comm) { return capacity.room({{1, comm}}, 0); }

KernelFootprint comm_kernel(const char* name, const DeviceLimits& device) { return find_comm_kernel(name, device)->footprint; }

TEST(SmCapacity, NcclBlockNeedsAnSmWithoutGemmBlocks) {
  // 544 threads x 96 registers take 52,224 of 65,536 registers; a block of 256 x 56 needs 14,336 of the 13,312 left.
  const DeviceLimits h200 = *find_device("h200");
  const KernelFootprint gemm{Threads(256), Registers(56), Bytes(4'096), Bytes(0), 1};
  const SmCapacity capacity = pair(h200, gemm, comm_kernel("nccl-2.28:544", h200));
  EXPECT_EQ(capacity.most(0), 4);
  EXPECT_EQ(capacity.most(1), 1);
  EXPECT_EQ(compute_beside(capacity, 1), 0);
}

TEST(SmCapacity, TwoSmallNcclBlocksShareAnSm) {
  // 288 threads: 9 warps x 3,072 registers; two blocks are 18 warps, five per partition take 15,360 of 16,384. Shared memory:
  // 2 x 104,832 B of 233,472 B.
  const DeviceLimits h200 = *find_device("h200");
  const KernelFootprint gemm{Threads(256), Registers(128), Bytes(8'192), Bytes(0), 1};
  KernelFootprint nccl = comm_kernel("nccl-2.28:544", h200);
  nccl.threads = Threads(288);
  const SmCapacity capacity = pair(h200, gemm, nccl);
  EXPECT_EQ(capacity.most(1), 2);
  EXPECT_EQ(compute_beside(capacity, 2), 0);
}

TEST(SmCapacity, RcclBlockSharesACu) {
  // MI250X: a partition has 512 x 64 = 32,768 VGPRs. RCCL: 4 waves x 216 x 64 = 13,824, one per partition; a GEMM of 4 waves x 96:
  // 6,144 each. 32,768 - 13,824 = 18,944 leave room for 3 beside it, alone 5.
  const DeviceLimits mi250x = *find_device("mi250x");
  const KernelFootprint gemm{Threads(256), Registers(96), Bytes(4'096), Bytes(0), 1};
  const SmCapacity capacity = pair(mi250x, gemm, comm_kernel("rccl-5.2", mi250x));
  EXPECT_EQ(capacity.most(0), 5);
  EXPECT_EQ(compute_beside(capacity, 1), 3);
  EXPECT_TRUE(capacity.fits({{0, 3}, {1, 1}}));
  EXPECT_FALSE(capacity.fits({{0, 4}, {1, 1}}));
}

TEST(SmCapacity, ComputeKernelDecidesTheSharedMemorySplit) {
  // One block of 116,864 B per SM makes the SM give 132 KiB to shared memory: 18,304 B are left, a communication block of 30 KiB
  // stays out though 228 KiB would hold both.
  const DeviceLimits h200 = *find_device("h200");
  KernelFootprint gemm{Threads(256), Registers(32), Bytes(0), Bytes(116'864 - 1'024), 1};
  const KernelFootprint small{Threads(128), Registers(32), Bytes(30 * 1'024), Bytes(0), 1};
  EXPECT_EQ(compute_beside(pair(h200, gemm, small), 1), 0);
  // With 16 KiB it fits.
  const KernelFootprint smaller{Threads(128), Registers(32), Bytes(16 * 1'024), Bytes(0), 1};
  EXPECT_EQ(compute_beside(pair(h200, gemm, smaller), 1), 1);
}

TEST(SmCapacity, APreferredSplitReplacesTheKernelsOwn) {
  // The same kernel with the whole 228 KiB: 233,472 - 116,864 B hold the 30 KiB beside it.
  const DeviceLimits h200 = *find_device("h200");
  const KernelFootprint gemm{Threads(256), Registers(32), Bytes(0), Bytes(116'864 - 1'024), 1};
  const KernelFootprint small{Threads(128), Registers(32), Bytes(30 * 1'024), Bytes(0), 1};
  EXPECT_EQ(compute_beside(pair(h200, gemm, small, Percent(100)), 1), 1);
  // 0 %: the 116,864 B of one block need the step of 132 KiB all the same.
  const SmCapacity least = pair(h200, gemm, small, Percent(0));
  EXPECT_EQ(least.most(0), 1);
  EXPECT_EQ(compute_beside(least, 1), 0);
}

TEST(SmCapacity, BlocksOfSeveralKernelsAddUp) {
  // 1,024 of 2,048 threads each: two blocks of any of three kernels. Of the fourth, 512 threads, two beside one of them, and one
  // beside that and one of its own.
  const DeviceLimits h200 = *find_device("h200");
  std::vector<SimKernel> kernels;
  for (const std::int64_t threads : {1'024, 1'024, 1'024, 512}) {
    ComputeProfile computing;
    CommProfile communicating;
    computing.footprint = communicating.footprint = {Threads(threads), Registers(32), Bytes(0), Bytes(0), 1};
    kernels.push_back(kernels.size() < 2 ? SimKernel{computing, 0, std::nullopt} : SimKernel{communicating, 0, std::nullopt});
  }
  const SmCapacity capacity = *SmCapacity::make(h200, kernels);
  EXPECT_TRUE(capacity.fits({{0, 1}, {1, 1}}));
  EXPECT_FALSE(capacity.fits({{0, 1}, {1, 1}, {2, 1}}));
  EXPECT_FALSE(capacity.fits({{0, 1}, {1, 1}, {3, 1}}));
  EXPECT_TRUE(capacity.fits({{0, 1}, {3, 2}}));
  EXPECT_TRUE(capacity.fits({{2, 1}, {3, 2}}));
  EXPECT_EQ(capacity.room({{0, 1}, {3, 1}}, 3), 1);
  EXPECT_EQ(capacity.room({{0, 1}, {1, 1}}, 3), 0);
}

TEST(SmCapacity, RefusesABlockThatCannotRun) {
  const DeviceLimits h200 = *find_device("h200");
  const KernelFootprint gemm{Threads(2'048), Registers(32), Bytes(0), Bytes(0), 1};
  ComputeProfile profile;
  profile.footprint = gemm;
  EXPECT_FALSE(SmCapacity::make(h200, {SimKernel{profile, 0, std::nullopt}}));
}

}  // namespace
}  // namespace elbowroom::sim
