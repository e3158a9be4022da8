#include "elbowroom/plan/pad_ranges.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

#include "elbowroom/plan/occupancy.hpp"
#include "unit/plan/footprints.hpp"

namespace elbowroom {
namespace {

using testing::any_device;
using testing::any_footprint;
using testing::block;
using testing::device;
using testing::kSimtGemm;

PadRange range(std::int64_t blocks, std::int64_t least, std::int64_t greatest, Resource limit) {
  return {BlocksPerSm(blocks), Bytes(least), Bytes(greatest), ResourceSet{limit}};
}

TEST(PadRanges, OfASimtGemmOnH200) {
  // One block takes 4,096 + 1,024 = 5,120 B of 233,472. Registers allow 4 (occupancy_test). Per block at most
  //   4: 58,368 -> pad 53,248;  3: 77,824 -> 72,704;  2: 116,736 -> 111,616;
  //   1: the launch limit, 232,448 - 4,096 = 228,352. Each range begins one granule of 128 after the one before it.
  const Result<std::vector<PadRange>> ranges = pad_ranges(device("h200"), kSimtGemm);
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(*ranges, (std::vector<PadRange>{
                         range(4, 0, 53'248, Resource::registers),
                         range(3, 53'376, 72'704, Resource::shared_memory),
                         range(2, 72'832, 111'616, Resource::shared_memory),
                         range(1, 111'744, 228'352, Resource::shared_memory),
                     }));
}

TEST(PadRanges, CountTheKernelsOwnDynamicSharedMemory) {
  // The same block with 1,000 B of its own dynamic memory: 6,120 B round up to 6,144, so that 1,024 B of each range are used up;
  // the launch limit leaves 227,352 B, of which 227,328 is the greatest multiple of 128.
  const Result<std::vector<PadRange>> ranges = pad_ranges(device("h200"), block(256, 56, 4'096, 1'000));
  ASSERT_TRUE(ranges.ok());
  ASSERT_EQ(ranges->size(), 4U);
  EXPECT_EQ((*ranges)[1], range(3, 52'352, 71'680, Resource::shared_memory));
  EXPECT_EQ((*ranges)[3], range(1, 110'720, 227'328, Resource::shared_memory));
}

TEST(PadRanges, OfAnAmdKernelFollowTheLds) {
  // 64 VGPRs allow 8. 65,536 / n in granules of 512: 8: 8,192; 7: 9,216; 6: 10,752; 5: 12,800; 4: 16,384; 3: 21,504; 2: 32,768.
  const Result<std::vector<PadRange>> ranges = pad_ranges(device("mi250x"), block(256, 64));
  ASSERT_TRUE(ranges.ok());
  ASSERT_EQ(ranges->size(), 8U);
  EXPECT_EQ((*ranges)[1], range(7, 8'704, 9'216, Resource::shared_memory));
  EXPECT_EQ((*ranges)[4], range(4, 13'312, 16'384, Resource::shared_memory));
  EXPECT_EQ((*ranges)[7], range(1, 33'280, 65'536, Resource::shared_memory));
}

TEST(PadRanges, LeaveOutResidenciesThatNoGranuleHits) {
  // One-wave workgroups: 65,536 B are 128 granules. 17 to 32 blocks take at most 7, 7, 6 ... 4, 4: 31 and 30 share 4 granules
  // with 32.
  const Result<std::vector<PadRange>> ranges = pad_ranges(device("mi250x"), block(64, 16));
  ASSERT_TRUE(ranges.ok());
  std::vector<std::int64_t> residencies;
  for (const PadRange& each : *ranges) { residencies.push_back(each.blocks_per_sm.count()); }
  // 128 / g for g = 4, 5, 6 ...: 32, 25, 21, 18, 16, 14, 12, 11, 10, 9, 9, 8 ...
  EXPECT_EQ(residencies, (std::vector<std::int64_t>{32, 25, 21, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST(PadRanges, OfAKernelAtOneBlockHaveOneRow) {
  // 213,188 B static: two never fit. 232,448 - 213,188 = 19,260, in granules 19,200.
  const Result<std::vector<PadRange>> ranges = pad_ranges(device("h200"), block(384, 168, 213'188));
  ASSERT_TRUE(ranges.ok());
  ASSERT_EQ(ranges->size(), 1U);
  EXPECT_EQ(ranges->front().blocks_per_sm, BlocksPerSm(1));
  EXPECT_EQ(ranges->front().pad_max, Bytes(19'200));
  EXPECT_EQ(ranges->front().limited_by, (ResourceSet{Resource::registers, Resource::shared_memory}));
}

TEST(PadRanges, OfAClusteredKernelAreTheUnpaddedOneAlone) {
  KernelFootprint clustered = kSimtGemm;
  clustered.cluster = 2;
  const Result<std::vector<PadRange>> ranges = pad_ranges(device("h200"), clustered);
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(*ranges, (std::vector<PadRange>{range(4, 0, 0, Resource::registers)}));
}

TEST(PadRanges, RefuseWhatCannotRun) {
  EXPECT_EQ(pad_ranges(device("h200"), block(2'048, 32)).error().message,
            occupancy(device("h200"), block(2'048, 32)).error().message);
}

KernelFootprint padded(KernelFootprint footprint, Bytes pad) {
  footprint.dynamic_shared += pad;
  return footprint;
}

// Every multiple of the granule, asked one by one, is the definition that the ranges must meet.
RC_GTEST_PROP(PadRangesProperty, AgreeWithOccupancyAtEveryPad, ()) {
  const DeviceLimits on = *any_device();
  const KernelFootprint footprint = *any_footprint();
  const Result<std::vector<PadRange>> ranges = pad_ranges(on, footprint);
  RC_PRE(ranges.ok());
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>, std::greater<>> seen;
  for (Bytes pad; footprint.static_shared + footprint.dynamic_shared + pad <= on.shared_per_block; pad += on.shared_granule) {
    const Result<Occupancy> at = occupancy(on, padded(footprint, pad));
    RC_ASSERT(at.ok());
    const auto [entry, first] = seen.try_emplace(at->residency.count(), pad.count(), pad.count());
    entry->second.second = pad.count();
  }
  RC_ASSERT(ranges->size() == seen.size());
  auto expected = seen.begin();
  for (const PadRange& each : *ranges) {
    RC_ASSERT(each.blocks_per_sm.count() == expected->first);
    RC_ASSERT(each.pad_min.count() == expected->second.first);
    RC_ASSERT(each.pad_max.count() == expected->second.second);
    RC_ASSERT(each.limited_by == occupancy(on, padded(footprint, each.pad_min))->limited_by);
    ++expected;
  }
}

// One granule beyond a range is one block less, or no launch at all.
RC_GTEST_PROP(PadRangesProperty, EndWhereOneMoreGranuleCostsABlock, ()) {
  const DeviceLimits on = *any_device();
  const KernelFootprint footprint = *any_footprint();
  const Result<std::vector<PadRange>> ranges = pad_ranges(on, footprint);
  RC_PRE(ranges.ok());
  for (const PadRange& each : *ranges) {
    const Result<Occupancy> beyond = occupancy(on, padded(footprint, each.pad_max + on.shared_granule));
    // RapidCheck takes an expression apart and would evaluate both sides of `||`.
    const bool ended = !beyond.ok() || beyond->residency < each.blocks_per_sm;
    RC_ASSERT(ended);
  }
}

}  // namespace
}  // namespace elbowroom
