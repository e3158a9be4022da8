#include "elbowroom/plan/shape.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "elbowroom/plan/occupancy.hpp"
#include "unit/plan/footprints.hpp"

namespace elbowroom {
namespace {

using testing::any_device;
using testing::any_footprint;
using testing::block;
using testing::device;
using testing::kSimtGemm;

TEST(ShapeTo, TakesTheLeastPadAndNothingElse) {
  // The range of 2 begins at 72,832 (pad_ranges_test).
  const Result<OverlapPlan> plan = shape_to(device("h200"), kSimtGemm, BlocksPerSm(2));
  ASSERT_TRUE(plan.ok());
  OverlapPlan expected;
  expected.blocks_per_sm = BlocksPerSm(2);
  expected.pad = Bytes(72'832);
  EXPECT_EQ(*plan, expected);
}

TEST(ShapeTo, NeedsNoPadForTheKernelsOwnResidency) {
  EXPECT_EQ(shape_to(device("h200"), kSimtGemm, BlocksPerSm(4))->pad, Bytes(0));
}

TEST(ShapeTo, RefusesWhatPaddingCannotReach) {
  EXPECT_EQ(shape_to(device("h200"), kSimtGemm, BlocksPerSm(5)).error().message,
            "no pad gives 5 blocks per SM on h200, expected one of 4, 3, 2, 1");
  EXPECT_FALSE(shape_to(device("h200"), kSimtGemm, BlocksPerSm(0)).ok());
  EXPECT_FALSE(shape_to(device("mi250x"), block(64, 16), BlocksPerSm(31)).ok());  // between two granules
}

TEST(ShapeTo, NeverPadsAKernelInClusters) {
  KernelFootprint clustered = kSimtGemm;
  clustered.cluster = 4;
  EXPECT_EQ(shape_to(device("h200"), clustered, BlocksPerSm(2)).error().message,
            "a kernel in clusters of 4 is never padded: its blocks must start together");
}

TEST(ShapeTo, RefusesAKernelThatCannotRun) { EXPECT_FALSE(shape_to(device("h200"), block(2'048, 32), BlocksPerSm(1)).ok()); }

RC_GTEST_PROP(ShapeToProperty, GivesTheResidencyAndNoSmallerPadDoes, ()) {
  const DeviceLimits on = *any_device();
  KernelFootprint footprint = *any_footprint();
  const Result<Occupancy> unpadded = occupancy(on, footprint);
  RC_PRE(unpadded.ok());
  const BlocksPerSm wanted(*rc::gen::inRange<std::int64_t>(1, unpadded->residency.count() + 1));
  const Result<OverlapPlan> plan = shape_to(on, footprint, wanted);
  RC_PRE(plan.ok());
  footprint.dynamic_shared += plan->pad;
  RC_ASSERT(occupancy(on, footprint)->residency == wanted);
  if (plan->pad > Bytes(0)) {
    footprint.dynamic_shared -= on.shared_granule;
    RC_ASSERT(occupancy(on, footprint)->residency > wanted);
  }
}

}  // namespace
}  // namespace elbowroom
