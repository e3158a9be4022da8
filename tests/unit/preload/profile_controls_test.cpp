#include "preload/profile_controls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/tune/choices.hpp"

namespace elbowroom::preload {
namespace {

using elbowroom::testing::choice;
using elbowroom::testing::pair_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A made-up choice with a cap, for a kernel whose block has that many threads.
StoredChoice capped(int number, int threads, int blocks_per_sm) {
  StoredChoice made = choice(number);
  std::get<KernelFootprint>(pair_of(made.key).compute).threads = Threads(threads);
  made.plan = OverlapPlan{};
  made.plan.blocks_per_sm = BlocksPerSm(blocks_per_sm);
  return made;
}

ProfileControls found(const std::vector<StoredChoice>& choices, const Variables& environment = {}) {
  Profile profile;
  for (const StoredChoice& one : choices) { profile.put(one); }
  Result<ProfileControls> controls = controls_of(profile, environment);
  EXPECT_TRUE(controls) << controls.error().message;
  return controls ? *std::move(controls) : ProfileControls();
}

TEST(ProfileControls, TakeWhatAllChoicesAgreeOn) {
  const ProfileControls agreed = found({choice(28), choice(29)});
  EXPECT_THAT(agreed.controls.comm_library, ElementsAre(Pair("NCCL_MIN_CTAS", "8"), Pair("NCCL_MAX_CTAS", "8")));
  EXPECT_THAT(agreed.left, IsEmpty());
  StoredChoice other = choice(30);
  other.plan.comm_blocks = Blocks(24);
  const ProfileControls differing = found({choice(29), other});
  EXPECT_THAT(differing.controls.comm_library, IsEmpty());
  EXPECT_THAT(differing.left, ElementsAre("comm_blocks (8, 24)"));
  other.plan.comm_blocks.reset();
  EXPECT_THAT(found({choice(29), other}).left, ElementsAre("comm_blocks (none, 8)")) << "without the control is a value too";
}

TEST(ProfileControls, LeaveWhatHoldsInWindowsOnly) {
  StoredChoice windowed = choice(29);
  windowed.plan.windows_only = true;
  const ProfileControls none = found({windowed});
  EXPECT_THAT(none.controls.comm_library, IsEmpty());
  EXPECT_THAT(none.left, ElementsAre("comm_blocks (8 in windows only)"));
}

TEST(ProfileControls, CapKernelsEachByTheChoicesForIt) {
  const ProfileControls caps = found({capped(28, 128, 4), capped(29, 128, 4), capped(28, 256, 3), capped(29, 256, 5)});
  ASSERT_EQ(caps.controls.footprint_caps.size(), 1U);
  EXPECT_EQ(caps.controls.footprint_caps[0].footprint.threads, Threads(128));
  EXPECT_EQ(caps.controls.footprint_caps[0].blocks_per_sm, BlocksPerSm(4));
  EXPECT_EQ(caps.controls.footprint_caps[0].device, "h200");
  EXPECT_THAT(caps.left, ElementsAre("blocks_per_sm of 256x32 0+0 (3, 5)"));
}

TEST(ProfileControls, GiveProductsOfALibraryTheirTarget) {
  StoredChoice product = choice(29);
  pair_of(product.key).compute = NamedKernel{KernelKind::library_gemm, DataType::bf16};
  pair_of(product.key).compute_class = {ComputeClass::Unit::flop, 40, std::nullopt};
  product.plan = OverlapPlan{};
  product.plan.sm_target = Sms(104);
  const ProfileControls targets = found({product});
  ASSERT_EQ(targets.controls.product_targets.size(), 1U);
  EXPECT_EQ(targets.controls.product_targets[0].product, (ProductClass{DataType::bf16, 40}));
  EXPECT_EQ(targets.controls.product_targets[0].sms, Sms(104));
}

TEST(ProfileControls, SayWhyAChoiceIsNoneForAProgram) {
  StoredChoice simulated = choice(1);
  simulated.key.surroundings.provenance = Provenance::simulated;
  StoredChoice step = choice(2);
  step.key.what = StepKey{7};
  StoredChoice symmetric = choice(3);
  symmetric.plan.symmetric = true;
  StoredChoice copies = choice(4);
  copies.plan.copy_engine = true;
  StoredChoice unlisted = choice(5);
  unlisted.key.surroundings.device = "sm_120";
  const ProfileControls none = found({simulated, step, symmetric, copies, unlisted, [] {
                                        StoredChoice second = choice(6);
                                        second.key.surroundings.device = "sm_120";
                                        return second;
                                      }()});
  EXPECT_THAT(none.controls.comm_library, IsEmpty());
  EXPECT_THAT(none.left,
              ElementsAre("1 choice for a whole step, of which a program's kernels know nothing", "1 choice made by the simulator",
                          "2 choices on sm_120, which tells no device by its name",
                          "1 choice on symmetric memory, which a program gives its collectives itself; tune --for-run goes without",
                          "1 choice with copy engines, which a program's own collectives lack; tune --for-run goes without"));
}

// Blocks and clusters are what a run sets itself, whatever they were.
TEST(ProfileControls, AreForProgramsWithTheSameSettingsOfTheLibrary) {
  StoredChoice host = choice(29);
  host.key.surroundings.comm_library->settings = {{"NCCL_MAX_CTAS", "8"}, {"NCCL_P2P_DISABLE", "1"}};
  EXPECT_THAT(found({host}).left, ElementsAre("1 choice made with NCCL_P2P_DISABLE=1, unlike this environment"));
  const Variables same = {{"HOME", "/root"}, {"NCCL_P2P_DISABLE", "1"}, {"NCCL_CGA_CLUSTER_SIZE", "2"}, {"NCCL_DEBUG", "INFO"}};
  EXPECT_THAT(found({host}, same).left, IsEmpty());
  EXPECT_EQ(found({host}, same).controls.comm_library.size(), 2U);
  EXPECT_THAT(found({choice(29)}, same).left,
              ElementsAre("1 choice made without settings of the library, unlike this environment"));
}

TEST(ProfileControls, FillInWhatIsLeftOpen) {
  Controls offered;
  offered.comm_library = {{"NCCL_MIN_CTAS", "12"}, {"NCCL_MAX_CTAS", "12"}, {"NCCL_NTHREADS", "256"}};
  offered.product_targets = {{"h200", {DataType::bf16, 40}, Sms(104)}};
  offered.footprint_caps = {{"h200", {}, BlocksPerSm(4)}};
  Controls asked;
  asked.comm_library = {{"NCCL_MIN_CTAS", "4"}, {"NCCL_MAX_CTAS", "4"}};
  const Controls both = completed(asked, offered);
  EXPECT_THAT(both.comm_library, ElementsAre(Pair("NCCL_MIN_CTAS", "4"), Pair("NCCL_MAX_CTAS", "4"), Pair("NCCL_NTHREADS", "256")));
  EXPECT_EQ(both.product_targets.size(), 1U);
  EXPECT_EQ(both.footprint_caps.size(), 1U);
  asked.sm_target = Sms(90);
  EXPECT_THAT(completed(asked, offered).product_targets, IsEmpty()) << "all products have a target";
}

}  // namespace
}  // namespace elbowroom::preload
