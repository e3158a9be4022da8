#include "elbowroom/plan/occupancy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "unit/plan/footprints.hpp"

namespace elbowroom {
namespace {

using testing::block;
using testing::device;

Occupancy of(std::string_view name, const KernelFootprint& footprint) { return *occupancy(device(name), footprint); }

std::string refusal(std::string_view name, const KernelFootprint& footprint) {
  const Result<Occupancy> result = occupancy(device(name), footprint);
  return result.ok() ? "accepted" : result.error().message;
}

TEST(Occupancy, RegistersLimitPerPartition) {
  // 56 x 32 = 1,792 registers a warp, a multiple of 256. 16,384 / 1,792 = 9 warps a partition, 36 an SM, 8 warps a block: 4.
  const Occupancy result = of("h200", block(256, 56, 4'096));
  EXPECT_EQ(result.residency, BlocksPerSm(4));
  EXPECT_EQ(result.limited_by, ResourceSet{Resource::registers});
}

TEST(Occupancy, PartitionsWasteWhatAWholeSmWouldUse) {
  // 96 x 32 = 3,072 a warp: 5 a partition, 20 an SM, although 65,536 / 3,072 = 21. Blocks of 7 warps: 2, not 3.
  EXPECT_EQ(of("h200", block(7 * 32, 96)).residency, BlocksPerSm(2));
}

TEST(Occupancy, ThreadsLimitWhereWarpSlotsEnd) {
  // A40 has 48 warps an SM: 6 blocks of 8 warps; registers would allow 16 x 4 / 8 = 8 at 32 each.
  const Occupancy result = of("a40", block(256, 32));
  EXPECT_EQ(result.residency, BlocksPerSm(6));
  EXPECT_EQ(result.limited_by, ResourceSet{Resource::threads});
}

TEST(Occupancy, AWarpIsTakenWhole) {
  // 33 threads are 2 warps: 64 / 2 = 32 blocks, which is also the block limit; 16 registers allow 32 warps a partition: 64 blocks.
  const Occupancy result = of("h200", block(33, 16));
  EXPECT_EQ(result.residency, BlocksPerSm(32));
  EXPECT_EQ(result.limited_by, (ResourceSet{Resource::threads, Resource::blocks}));
}

TEST(Occupancy, BlockSlotsLimitSmallBlocks) {
  const Occupancy result = of("a40", block(32, 16));
  EXPECT_EQ(result.residency, BlocksPerSm(16));
  EXPECT_EQ(result.limited_by, ResourceSet{Resource::blocks});
}

TEST(Occupancy, SharedMemoryCountsReserveAndGranule) {
  // 48,129 + 1,024 = 49,153, rounded up to 49,280: 233,472 / 49,280 = 4 blocks.
  const Occupancy result = of("h200", block(64, 32, 48'129));
  EXPECT_EQ(result.residency, BlocksPerSm(4));
  EXPECT_EQ(result.limited_by, ResourceSet{Resource::shared_memory});
  // 233,472 / 5 = 46,694.4: 46,592 with the reserve is the most that five may take each; one byte more makes it four.
  EXPECT_EQ(of("h200", block(64, 32, 46'592 - 1'024)).residency, BlocksPerSm(5));
  EXPECT_EQ(of("h200", block(64, 32, 46'592 - 1'024 + 1)).residency, BlocksPerSm(4));
}

TEST(Occupancy, StaticAndDynamicAddUp) {
  EXPECT_EQ(of("h200", block(64, 32, 10'000, 20'000)).residency, of("h200", block(64, 32, 30'000)).residency);
}

TEST(Occupancy, AmdCountsWavesPerSimdByVgprs) {
  // 216 VGPRs: 512 / 216 = 2 waves a SIMD, 8 a CU; 256 threads are 4 waves: 2 blocks.
  const Occupancy result = of("mi250x", block(256, 216, 4'184));
  EXPECT_EQ(result.residency, BlocksPerSm(2));
  EXPECT_EQ(result.limited_by, ResourceSet{Resource::registers});
  // 65 VGPRs are handed out as 72: 7 waves a SIMD, 28 a CU, 7 blocks. 64 would give 8.
  EXPECT_EQ(of("mi250x", block(256, 65)).residency, BlocksPerSm(7));
  EXPECT_EQ(of("mi250x", block(256, 64)).residency, BlocksPerSm(8));
}

TEST(Occupancy, AmdCountsLdsInGranulesOf512) {
  // 16,385 B become 16,896: 3 blocks; 16,384 B would be 4.
  EXPECT_EQ(of("mi250x", block(64, 32, 16'385)).residency, BlocksPerSm(3));
  EXPECT_EQ(of("mi250x", block(64, 32, 16'384)).residency, BlocksPerSm(4));
}

TEST(Occupancy, AmdWithoutLdsIsNotLimitedByIt) {
  const Occupancy result = of("mi300x", block(64, 16));
  EXPECT_EQ(result.residency, BlocksPerSm(32));  // 8 waves x 4 SIMDs, one wave each
  EXPECT_FALSE(result.limited_by.contains(Resource::shared_memory));
}

TEST(Occupancy, RefusesRegistersWithBothAmounts) {
  // 255 x 32 = 8,160, rounded up to 8,192 a warp; 32 warps need 262,144.
  EXPECT_EQ(refusal("h200", block(1'024, 255)), "one block needs 262,144 registers, an SM of h200 has 65,536");
  EXPECT_EQ(refusal("h200", block(1'024, 256)), "one block needs 262,144 registers, an SM of h200 has 65,536");
  // 17 warps of 3,840: one partition would hold 5 of them, 19,200 > 16,384, so that 20 count: 76,800.
  EXPECT_EQ(refusal("h200", block(544, 120)), "one block needs 76,800 registers, an SM of h200 has 65,536");
  EXPECT_EQ(refusal("mi250x", block(1'024, 256)), "one block needs 262,144 registers, a CU of mi250x has 131,072");
}

TEST(Occupancy, RefusesWhatNoThreadOrBlockMayHave) {
  EXPECT_EQ(refusal("h200", block(32, 300)), "one thread needs 300 registers, a thread of h200 has at most 255");
  EXPECT_EQ(refusal("h200", block(2'048, 32)), "one block needs 2,048 threads, a block of h200 may have 1,024");
  EXPECT_EQ(refusal("h200", block(0, 32)), "one block has 0 threads, expected 1 to 1,024");
  EXPECT_EQ(refusal("h200", block(32, -1)), "one thread has -1 registers, expected 0 or more");
}

TEST(Occupancy, RefusesSharedMemoryWithBothAmounts) {
  EXPECT_EQ(refusal("a100", block(256, 32, 4'096, 162'817)),
            "one block needs 4,096 B static and 162,817 B dynamic shared memory, a block of a100 may have 166,912 B");
  EXPECT_TRUE(occupancy(device("a100"), block(256, 32, 4'096, 162'816)).ok());
  EXPECT_EQ(refusal("h200", block(256, 32, -4, 0)),
            "one block has -4 B static and 0 B dynamic shared memory, expected 0 or more of each");
}

TEST(Occupancy, RefusesClustersBeyondTheDevice) {
  KernelFootprint clustered = block(128, 32);
  clustered.cluster = 8;
  EXPECT_TRUE(occupancy(device("h200"), clustered).ok());
  EXPECT_EQ(refusal("a100", clustered), "one cluster has 8 blocks, expected 1 to 1 on a100");
  clustered.cluster = 0;
  EXPECT_EQ(refusal("h200", clustered), "one cluster has 0 blocks, expected 1 to 8 on h200");
}

TEST(Occupancy, SurvivesTheGreatestNumbers) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(refusal("h200", block(most, 32)), "accepted");
  EXPECT_NE(refusal("h200", block(32, most)), "accepted");
  EXPECT_NE(refusal("h200", block(32, 32, most, most)), "accepted");
}

TEST(BlockLimits, ShowsEveryResourceApart) {
  // 8 warps of 1,792 registers, 5,120 B: 64 / 8, the slot limit, 36 / 8, 233,472 / 5,120.
  const Result<BlockLimits> limits = block_limits(device("h200"), block(256, 56, 4'096));
  ASSERT_TRUE(limits.ok());
  EXPECT_EQ(limits->by_threads, BlocksPerSm(8));
  EXPECT_EQ(limits->by_blocks, BlocksPerSm(32));
  EXPECT_EQ(limits->by_registers, BlocksPerSm(4));
  EXPECT_EQ(limits->by_shared_memory, BlocksPerSm(45));
}

}  // namespace
}  // namespace elbowroom
