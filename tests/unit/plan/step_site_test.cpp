#include "elbowroom/plan/step_site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "unit/plan/footprints.hpp"
#include "unit/plan/layers.hpp"

namespace elbowroom {
namespace {

using testing::device;
using testing::kEightBlocks;

/// A library chooses the kernels of products; eight blocks of the elementwise kernel are resident.
StepSite site_of(const Step& step) {
  static const ComputeFacts library{std::nullopt, std::nullopt, "library kernel"};
  static const ComputeFacts own{kEightBlocks, Blocks(1024), std::nullopt};
  const auto facts = [&](int at) -> const ComputeFacts& {
    const auto& compute = std::get<Compute>(step.operations[static_cast<std::size_t>(at)].what);
    return std::holds_alternative<LibraryGemm>(compute) ? library : own;
  };
  return *step_site(step, device("h200"), facts, capabilities_of(device("h200")));
}

TEST(StepSite, PutsTheSameWorkTogether) {
  const StepSite site = site_of(two_layers());
  // up1 and up2, norm1 and norm2, head; the gathers, the scatter.
  ASSERT_EQ(site.computations.size(), 3U);
  EXPECT_EQ(site.computations[0].operations, (std::vector{2, 4}));
  EXPECT_EQ(site.computations[1].operations, (std::vector{3, 5}));
  EXPECT_EQ(site.computations[2].operations, std::vector{7});
  ASSERT_EQ(site.communications.size(), 2U);
  EXPECT_EQ(site.communications[0].operations, (std::vector{0, 1}));
  EXPECT_EQ(site.communications[1].operations, std::vector{6});
}

// Two gathers of 64 MiB are 128 MiB, one scatter is 96. Two products of 4096 are 16 times one of 2048; products stand before
// kernels that only read.
TEST(StepSite, OfTheWholeStepIsTheGreatestPair) {
  const StepSite site = site_of(two_layers());
  EXPECT_EQ(site.whole.collective.op, CollectiveOp::all_gather);
  EXPECT_EQ(site.computation, 2);
  EXPECT_FALSE(site.whole.compute);
  EXPECT_TRUE(site.whole.gates);
  EXPECT_TRUE(site.whole.windows);
}

TEST(StepSite, SpreadsAPlanToWhereItActs) {
  const StepSite site = site_of(two_layers());
  OverlapPlan plan;
  plan.priority = true;
  plan.copy_engine = true;
  plan.sm_target = Sms(116);
  const StepPlan all = spread(site, plan);
  EXPECT_EQ(all.of(0), plan);
  EXPECT_EQ(all.of(4), plan);
  // Copy engines cannot add, and a kernel with a grid of its own takes no target.
  OverlapPlan scattered = plan;
  scattered.copy_engine = false;
  EXPECT_EQ(all.of(6), scattered);
  OverlapPlan elementwise = plan;
  elementwise.sm_target.reset();
  EXPECT_EQ(all.of(3), elementwise);
  EXPECT_EQ(where_it_acts(site, plan), "SM target 116 on 3 of 5 computations, copy engines on 2 of 3 communications");
}

TEST(StepSite, SaysNothingOfWhatActsOnAll) {
  OverlapPlan plan;
  plan.priority = plan.launch_gate = true;
  plan.comm_blocks = Blocks(8);
  EXPECT_FALSE(where_it_acts(site_of(two_layers()), plan));
}

// 8 blocks of 256 threads and 30 registers fit without a pad; a cap of 4 needs one, of the elementwise kernels alone.
TEST(StepSite, CapsTheKernelsThatCanBePadded) {
  const Step step = two_layers();
  StepSite site = site_of(step);
  OverlapPlan plan;
  plan.blocks_per_sm = BlocksPerSm(4);
  plan.pad = Bytes(1);  // of another kernel
  const StepPlan all = spread(site, plan);
  EXPECT_EQ(all.of(3).blocks_per_sm, BlocksPerSm(4));
  EXPECT_GT(all.of(3).pad, Bytes(1));
  EXPECT_FALSE(all.of(2).blocks_per_sm);
  EXPECT_EQ(all.of(2).pad, Bytes(0));
}

TEST(StepSite, KeepsWhatTheUserFixed) {
  Step step = two_layers();
  std::get<Collective>(step.operations[6].what).comm_blocks = Blocks(4);
  OverlapPlan plan;
  plan.comm_blocks = Blocks(16);
  StepSite site = site_of(step);
  EXPECT_EQ(spread(site, plan).of(6).comm_blocks, Blocks(4));
  EXPECT_EQ(spread(site, plan).of(0).comm_blocks, Blocks(16));
  EXPECT_FALSE(site.whole.collective.comm_blocks);
  // What the greatest alone fixes is its own as well.
  Step gathers = two_layers();
  for (const std::size_t at : {0U, 1U}) { std::get<Collective>(gathers.operations[at].what).comm_blocks = Blocks(8); }
  EXPECT_FALSE(site_of(gathers).whole.collective.comm_blocks);
  // What all fix is fixed.
  for (const std::size_t at : {0U, 1U}) { std::get<Collective>(step.operations[at].what).comm_blocks = Blocks(8); }
  EXPECT_EQ(plain_plan(site_of(step).whole).comm_blocks, Blocks(8));
}

TEST(StepSite, NeedsBothSides) {
  Step step = two_layers();
  step.operations.resize(2);
  const ComputeFacts none;
  const auto facts = [&](int) -> const ComputeFacts& { return none; };
  EXPECT_EQ(step_site(step, device("h200"), facts, {}).error().message, "the step has no computation, no control can act");
  step.operations = {compute_operation("only")};
  EXPECT_EQ(step_site(step, device("h200"), facts, {}).error().message, "the step has no communication, no control can act");
}

OverlapPlan any_plan() {
  OverlapPlan plan;
  for (const Control& control : controls()) {
    if (*rc::gen::element(true, false)) { control.put(plan, *rc::gen::inRange<std::int64_t>(control.least, control.least + 140)); }
  }
  return plan;
}

// Whatever is asked for, no operation gets what a plan of its own could not say.
RC_GTEST_PROP(StepSiteProperty, WhatIsSpreadCanActThere, ()) {
  static const StepSite site = site_of(two_layers());
  const StepPlan all = spread(site, any_plan());
  for (const auto* kinds : {&site.computations, &site.communications}) {
    for (const KindSite& kind : *kinds) {
      const Status legal = check_plan(kind.site, all.of(kind.operations.front()));
      if (!legal) { RC_FAIL(legal.error().message); }
    }
  }
}

}  // namespace
}  // namespace elbowroom
