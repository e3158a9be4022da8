#include "elbowroom/plan/scheme.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

#include "elbowroom/plan/occupancy.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/pad_ranges.hpp"
#include "unit/plan/footprints.hpp"

namespace elbowroom {
namespace {

using testing::any_device;
using testing::any_footprint;
using testing::block;
using testing::device;
using testing::kEightBlocks;

TEST(Scheme, NamesReadBack) {
  std::vector<std::string_view> names;
  for (const Scheme scheme : schemes()) {
    names.push_back(to_string(scheme));
    EXPECT_EQ(*parse_scheme(to_string(scheme)), scheme);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"sequential", "concurrent", "priority", "shaped", "shaped_priority", "tuned",
                                                  "green_context", "comm_blocks_only", "sm_target_only", "copy_engine"}));
  EXPECT_EQ(baselines().size(), 5U);
  EXPECT_EQ(baselines().back(), Scheme::shaped_priority);
}

TEST(Scheme, RefusesOtherNamesAndListsItsOwn) {
  for (const std::string_view name : {"", "Shaped", "shaped ", "shaped,priority"}) {
    const Result<Scheme> scheme = parse_scheme(name);
    ASSERT_FALSE(scheme.ok());
    EXPECT_EQ(scheme.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(scheme.error().message, "scheme: '" + std::string(name) +
                                          "', expected one of sequential, concurrent, priority, shaped, shaped_priority, tuned, "
                                          "green_context, comm_blocks_only, sm_target_only, copy_engine");
  }
}

TEST(SchemePlans, AreOneWithoutShaping) {
  for (const auto& [scheme, urgent] :
       {std::pair{Scheme::sequential, false}, {Scheme::concurrent, false}, {Scheme::priority, true}}) {
    const Result<std::vector<OverlapPlan>> plans = scheme_plans(scheme, device("h200"), kEightBlocks, Collective{});
    ASSERT_TRUE(plans.ok());
    OverlapPlan expected;
    expected.priority = urgent;
    EXPECT_EQ(*plans, std::vector{expected}) << to_string(scheme);
  }
}

TEST(SchemePlans, OfTheShapedSchemesCapAtEveryResidencyBelowTheKernelsOwn) {
  // A block takes 1,024 B beside its pad. An SM of h200 has 233,472 B = 1,824 granules of 128 B, so a block of n may take
  //   8: 29,184; 7: 33,280; 6: 38,912; 5: 46,592; 4: 58,368; 3: 77,824; 2: 116,736.
  // The least pad of a cap is one granule more than the greatest of the next: 29,184 + 128 - 1,024 = 28,288 caps at 7.
  const std::vector<std::pair<std::int64_t, std::int64_t>> caps{{7, 28'288}, {6, 32'384}, {5, 38'016}, {4, 45'696},
                                                                {3, 57'472}, {2, 76'928}, {1, 115'840}};
  for (const auto& [scheme, urgent] : {std::pair{Scheme::shaped, false}, {Scheme::shaped_priority, true}}) {
    std::vector<OverlapPlan> expected;
    for (const auto& [blocks, pad] : caps) {
      OverlapPlan plan;
      plan.blocks_per_sm = BlocksPerSm(blocks);
      plan.pad = Bytes(pad);
      plan.priority = urgent;
      expected.push_back(plan);
    }
    const Result<std::vector<OverlapPlan>> plans = scheme_plans(scheme, device("h200"), kEightBlocks, Collective{});
    ASSERT_TRUE(plans.ok()) << plans.error().message;
    EXPECT_EQ(*plans, expected) << to_string(scheme);
  }
}

TEST(SchemePlans, AllCarryTheCollectivesBudget) {
  Collective collective;
  collective.comm_blocks = Blocks(8);
  collective.cluster = 2;
  for (const Scheme scheme : baselines()) {
    const Result<std::vector<OverlapPlan>> plans = scheme_plans(scheme, device("h200"), kEightBlocks, collective);
    ASSERT_TRUE(plans.ok());
    for (const OverlapPlan& plan : *plans) {
      EXPECT_EQ(plan.comm_blocks, Blocks(8)) << to_string(scheme);
      EXPECT_EQ(plan.cluster, 2) << to_string(scheme);
      EXPECT_FALSE(plan.launch_gate);
      EXPECT_EQ(plan.sm_target, std::nullopt);
    }
  }
}

TEST(SchemePlans, RefuseToShapeALibrarysKernel) {
  for (const Scheme scheme : baselines()) {
    const Result<std::vector<OverlapPlan>> plans = scheme_plans(scheme, device("h200"), std::nullopt, Collective{});
    EXPECT_EQ(plans.ok(), !is_shaped(scheme)) << to_string(scheme);
    if (plans.ok()) { continue; }
    EXPECT_EQ(plans.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(plans.error().message, "the kernel is a library's own, its launches cannot be padded from outside");
  }
}

TEST(SchemePlans, RefuseToShapeWhatNoPadCaps) {
  const auto refusal = [](const KernelFootprint& kernel) {
    EXPECT_TRUE(scheme_plans(Scheme::priority, device("h200"), kernel, Collective{}).ok());
    const Result<std::vector<OverlapPlan>> plans = scheme_plans(Scheme::shaped, device("h200"), kernel, Collective{});
    return plans.ok() ? std::string("accepted") : plans.error().message;
  };
  // 213,188 B static: two blocks never fit.
  EXPECT_EQ(refusal(block(384, 168, 213'188)).rfind("no cap is below the kernel's own residency of 1 block", 0), 0U);
  KernelFootprint clustered = kEightBlocks;
  clustered.cluster = 2;  // never padded
  EXPECT_EQ(refusal(clustered), "no cap is below the kernel's own residency of 8 blocks per SM");
}

TEST(SchemePlans, OfThePeersSetOneControlEach) {
  const auto plans = [](Scheme scheme, const std::optional<KernelFootprint>& kernel, const Collective& collective) {
    return scheme_plans(scheme, device("h200"), kernel, collective);
  };
  Collective gather;
  gather.op = CollectiveOp::all_gather;
  OverlapPlan copied;
  copied.copy_engine = true;
  EXPECT_EQ(*plans(Scheme::copy_engine, kEightBlocks, gather), std::vector{copied});

  const auto parted = plans(Scheme::green_context, kEightBlocks, Collective{});
  ASSERT_EQ(parted->size(), 4U);  // 8, 16, 24 and 32 SMs, each with as many comm blocks
  EXPECT_EQ(parted->back().comm_sms, Sms(32));
  EXPECT_EQ(parted->back().comm_blocks, Blocks(32));

  const auto targets = plans(Scheme::sm_target_only, std::nullopt, Collective{});
  ASSERT_EQ(targets->size(), 4U);  // 132 SMs less those
  EXPECT_EQ(targets->front().sm_target, Sms(124));
  EXPECT_EQ((*targets)[2].sm_target, Sms(108));
  EXPECT_EQ(plans(Scheme::comm_blocks_only, std::nullopt, Collective{})->size(), 4U);
}

TEST(SchemePlans, RefuseAPeerThatCannotAct) {
  const auto refusal = [](Scheme scheme, const std::optional<KernelFootprint>& kernel, const Collective& collective) {
    const auto plans = scheme_plans(scheme, device("h200"), kernel, collective);
    return plans ? std::string("accepted") : plans.error().message;
  };
  Collective fixed;
  fixed.comm_blocks = Blocks(8);
  EXPECT_EQ(refusal(Scheme::comm_blocks_only, kEightBlocks, fixed), "the scenario fixes the collective's budget at 8 blocks");
  EXPECT_EQ(refusal(Scheme::sm_target_only, kEightBlocks, fixed),
            "an SM target acts on library GEMMs only, this kernel's grid is its own");
  EXPECT_EQ(refusal(Scheme::copy_engine, kEightBlocks, fixed),
            "copy engines alone cannot reduce, all_reduce is not all_gather or all_to_all");
  EXPECT_EQ(refusal(Scheme::tuned, kEightBlocks, fixed),
            "tuned: its plan is looked up in a profile, expected a scheme whose plans follow from the kernels");
  EXPECT_EQ(scheme_plans(Scheme::green_context, device("h200"), kEightBlocks, fixed)->front().comm_sms, Sms(8));
}

TEST(SchemePlans, SayWhyAKernelCannotRun) {
  const KernelFootprint large = block(2'048, 32);
  EXPECT_EQ(scheme_plans(Scheme::shaped, device("h200"), large, Collective{}).error().message,
            occupancy(device("h200"), large).error().message);
}

RC_GTEST_PROP(SchemePlansProperty, HoldTheirResidencyAndFallFromPlanToPlan, ()) {
  const DeviceLimits on = *any_device();
  const KernelFootprint footprint = *any_footprint();
  const Result<std::vector<OverlapPlan>> plans = scheme_plans(Scheme::shaped_priority, on, footprint, Collective{});
  RC_PRE(plans.ok());
  BlocksPerSm above = occupancy(on, footprint)->residency;
  for (const OverlapPlan& plan : *plans) {
    KernelFootprint padded = footprint;
    padded.dynamic_shared += plan.pad;
    RC_ASSERT(occupancy(on, padded)->residency == *plan.blocks_per_sm);
    RC_ASSERT(*plan.blocks_per_sm < above);
    RC_ASSERT(plan.priority);
    above = *plan.blocks_per_sm;
  }
}

}  // namespace
}  // namespace elbowroom
