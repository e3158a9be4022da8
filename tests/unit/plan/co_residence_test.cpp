#include "elbowroom/plan/co_residence.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "elbowroom/plan/occupancy.hpp"
#include "unit/plan/footprints.hpp"

namespace elbowroom {
namespace {

using testing::any_device;
using testing::any_footprint;
using testing::block;
using testing::comm;
using testing::device;

ResourceSet blockers(std::string_view on, const KernelFootprint& compute, std::int64_t resident, const KernelFootprint& other) {
  return CoResidence(device(on), compute, other).blockers(BlocksPerSm(resident), Bytes(0));
}

TEST(CoResidence, WarpsAreDealtToPartitionsInTurn) {
  // 17 warps of 3,072: one partition must hold 5, 15,360 of 16,384. 8 compute warps lie two in each partition; of 31 registers
  // they are 1,024 each: 15,360 + 2,048 is too much, although 65,536 - 17 x 3,072 = 13,312 would hold all 8. An H200 refuses too.
  const KernelFootprint seventeen = block(544, 96);
  EXPECT_EQ(blockers("h200", block(256, 31), 1, seventeen), ResourceSet{Resource::registers});
  // 16 warps are 4 in each: 12,288 + 2,048 fits.
  EXPECT_TRUE(blockers("h200", block(256, 31), 1, block(512, 96)).empty());
  // 3 compute warps leave one partition to the fifth.
  EXPECT_TRUE(blockers("h200", block(96, 127), 1, seventeen).empty());
}

TEST(CoResidence, APartitionWithMoreComputeHoldsLessCommunication) {
  // 5 warps of 5,376 (167 registers): 2, 1, 1, 1. 9 warps of 3,072 want 2 in each; the first partition has 5,632 left, room for
  // one.
  EXPECT_EQ(blockers("h200", block(160, 167), 1, block(288, 96)), ResourceSet{Resource::registers});
  // With 127 registers a warp takes 4,096: 8,192 are left, room for two, and the others have room for the third.
  EXPECT_TRUE(blockers("h200", block(160, 127), 1, block(288, 96)).empty());
}

TEST(CoResidence, CountsWarpSlotsAndBlockSlots) {
  // 8 x 8 warps fill all 64; registers are 16 x 512 = 8,192 of 16,384 and would leave room for 2 warps of 3,072 each.
  EXPECT_EQ(blockers("h200", block(256, 16), 8, block(256, 96)), ResourceSet{Resource::threads});
  // A40 has 16 block slots; 16 warps of 48 are used.
  EXPECT_EQ(blockers("a40", block(32, 16), 16, block(32, 16)), ResourceSet{Resource::blocks});
  EXPECT_TRUE(blockers("a40", block(32, 16), 15, block(32, 16)).empty());
}

TEST(CoResidence, CountsPadAndReserveAsSharedMemory) {
  // NCCL takes 21,568 + 82,240 + 1,024 = 104,832 of 233,472: 128,640 remain, of which the reserve is 1,024.
  const CoResidence beside(device("h200"), block(32, 16), comm("nccl-2.28:512", "h200"));
  EXPECT_EQ(beside.greatest_pad(BlocksPerSm(1)), Bytes(127'616));
  EXPECT_TRUE(beside.blockers(BlocksPerSm(1), Bytes(127'616)).empty());
  EXPECT_EQ(beside.blockers(BlocksPerSm(1), Bytes(127'744)), ResourceSet{Resource::shared_memory});
  // Two: 64,320 each, in granules 64,256 (502 x 128 = 64,256; 64,320 is 502.5 granules).
  EXPECT_EQ(beside.greatest_pad(BlocksPerSm(2)), Bytes(64'256 - 1'024));
  // 63,232 B of its own and the reserve are all of that; one granule more is too much.
  const auto with_static = [](std::int64_t bytes) {
    KernelFootprint footprint = block(32, 16);
    footprint.static_shared = Bytes(bytes);
    return CoResidence(device("h200"), footprint, comm("nccl-2.28:512", "h200"));
  };
  EXPECT_EQ(with_static(63'232).greatest_pad(BlocksPerSm(2)), Bytes(0));
  EXPECT_EQ(with_static(63'360).greatest_pad(BlocksPerSm(2)), std::nullopt);
}

TEST(CoResidence, NamesEveryBlocker) {
  // 16 blocks of 4 warps fill slots and, at 32 registers, all registers; 16 x 14,464 B leave 2,048 B.
  EXPECT_EQ(blockers("h200", block(128, 32, 13'440), 16, comm("nccl-2.28:544", "h200")),
            (ResourceSet{Resource::threads, Resource::registers, Resource::shared_memory}));
}

// A kernel beside itself is one more of its blocks: the answer must be occupancy's own.
RC_GTEST_PROP(CoResidenceProperty, OfAKernelWithItselfIsItsOccupancy, ()) {
  const DeviceLimits on = *any_device();
  const KernelFootprint footprint = *any_footprint();
  const Result<Occupancy> alone = occupancy(on, footprint);
  RC_PRE(alone.ok());
  const CoResidence beside(on, footprint, footprint);
  for (std::int64_t resident = 1; resident <= alone->residency.count(); ++resident) {
    RC_ASSERT(beside.blockers(BlocksPerSm(resident), Bytes(0)).empty() == (resident < alone->residency.count()));
  }
  RC_ASSERT(beside.blockers(alone->residency, Bytes(0)) == alone->limited_by);
}

// More compute never makes room.
RC_GTEST_PROP(CoResidenceProperty, NeverImprovesWithMoreBlocksOrMorePad, ()) {
  const DeviceLimits on = *any_device();
  const KernelFootprint compute = *any_footprint();
  const KernelFootprint other = *any_footprint();
  const Result<Occupancy> alone = occupancy(on, compute);
  RC_PRE(alone.ok() && occupancy(on, other).ok());
  const CoResidence beside(on, compute, other);
  for (std::int64_t resident = 1; resident < alone->residency.count(); ++resident) {
    if (!beside.blockers(BlocksPerSm(resident), Bytes(0)).empty()) {
      RC_ASSERT(!beside.blockers(BlocksPerSm(resident + 1), Bytes(0)).empty());
    }
    if (!beside.blockers(BlocksPerSm(resident), Bytes(0)).empty()) {
      RC_ASSERT(!beside.blockers(BlocksPerSm(resident), on.shared_granule).empty());
    }
  }
}

}  // namespace
}  // namespace elbowroom
