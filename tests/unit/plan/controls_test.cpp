#include "elbowroom/plan/controls.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "unit/plan/sites.hpp"

namespace elbowroom {
namespace {

using testing::elementwise_site;
using testing::library_site;
using testing::one_iteration;
using Values = std::vector<std::int64_t>;

Values values(const char* name, const ControlSite& site, const OverlapPlan& plan = {}) {
  const Result<Values> found = control(name).values(site, plan);
  return found ? *found : Values{};
}

std::string refusal(const char* name, const ControlSite& site, const OverlapPlan& plan = {}) {
  const Result<Values> found = control(name).values(site, plan);
  return found ? "acts" : found.error().message;
}

TEST(ControlSite, HasAsManyBlocksAsTheLibraryTakesOnThatDevice) {
  EXPECT_EQ(elementwise_site("h200").comm_blocks, Blocks(24));
  EXPECT_EQ(elementwise_site("h200", CollectiveOp::all_to_all).comm_blocks, Blocks(32));
  EXPECT_EQ(elementwise_site("a40").comm_blocks, Blocks(4));  // over PCIe
  EXPECT_EQ(elementwise_site("mi300x").comm_blocks, Blocks(32));
}

TEST(Controls, AreNamedOnceAndReadBackWhatTheySet) {
  const ControlSite site = elementwise_site();
  std::set<std::string_view> names;
  for (const Control& each : controls()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    const Result<Values> found = each.values(site, {});
    if (!found) { continue; }
    for (const std::int64_t value : *found) {
      OverlapPlan plan;
      each.set(site, plan, value);
      EXPECT_EQ(each.get(plan), value) << each.name;
      EXPECT_TRUE(check_plan(site, plan)) << each.name << " " << value;
      each.set(site, plan, std::nullopt);
      EXPECT_EQ(plan, OverlapPlan{}) << each.name;
    }
  }
  EXPECT_EQ(names.size(), 13U);
}

TEST(Controls, OfAKernelOfTheScenariosOwn) {
  const ControlSite site = elementwise_site();
  EXPECT_EQ(values("blocks_per_sm", site), (Values{1, 2, 3, 4, 5, 6, 7}));  // eight without a cap
  EXPECT_EQ(refusal("sm_target", site), "SM target acts only on library GEMMs, this kernel's grid is its own");
  EXPECT_EQ(values("carveout", site), (Values{0, 50, 100}));
}

TEST(Controls, WindowsMatterToPlansThatChangeALaunchByItself) {
  ControlSite site = elementwise_site();
  OverlapPlan plan;
  plan.priority = plan.launch_gate = true;
  EXPECT_EQ(refusal("windows_only", site, plan), "nothing in the plan changes a launch that runs alone");
  plan.comm_blocks = Blocks(8);
  EXPECT_EQ(values("windows_only", site, plan), Values{1});
  OverlapPlan capped;
  control("blocks_per_sm").set(site, capped, 4);
  EXPECT_EQ(values("windows_only", site, capped), Values{1});
  // A budget that the user fixed holds everywhere.
  site.collective.comm_blocks = Blocks(8);
  EXPECT_EQ(refusal("windows_only", site, plan), "nothing in the plan changes a launch that runs alone");
  site.windows = one_iteration(Pattern::pipeline).windows;
  EXPECT_EQ(refusal("windows_only", site, capped), "no computation can run beside a communication");
  site.windows = one_iteration(Pattern::pair).windows;
  EXPECT_EQ(refusal("windows_only", site, capped), "both sides run at once from the beginning to the end");
}

TEST(Controls, OfALibrarysKernel) {
  const ControlSite site = library_site();
  EXPECT_EQ(refusal("blocks_per_sm", site), "library kernel: padding cannot act");
  EXPECT_EQ(refusal("carveout", site), "library kernel: its carve-out is the library's");
  EXPECT_EQ(values("sm_target", site), (Values{100, 108, 116, 124}));  // 132 less 32, 24, 16 and 8
}

TEST(Controls, ABackendsReasonNotToPadIsTheRefusal) {
  ControlSite site = elementwise_site();
  site.shape_refusal = "cooperative";
  EXPECT_EQ(refusal("blocks_per_sm", site), "cooperative");
}

TEST(Controls, ClustersDivideTheBlocks) {
  OverlapPlan plan;
  EXPECT_EQ(values("cluster", elementwise_site()), (Values{1, 2, 4}));  // 24 blocks
  plan.comm_blocks = Blocks(6);
  EXPECT_EQ(values("cluster", elementwise_site(), plan), (Values{1, 2}));
  EXPECT_EQ(refusal("cluster", elementwise_site("a100")), "a100 launches no clusters");
  EXPECT_EQ(refusal("cluster", elementwise_site("mi250x")), "HIP launches no clusters");
}

TEST(Controls, AGateNeedsAnEventThatHipLacks) {
  EXPECT_EQ(values("launch_gate", elementwise_site()), Values{1});
  EXPECT_EQ(refusal("launch_gate", elementwise_site("mi250x")), "HIP has no event that says that a kernel's blocks have begun");
}

TEST(Controls, CommThreadsArePowersOfTwoWhereTheLibraryTakesThem) {
  EXPECT_EQ(values("comm_threads", elementwise_site()), (Values{128, 256, 512}));
  EXPECT_EQ(refusal("comm_threads", elementwise_site("h200", CollectiveOp::all_to_all)),
            "NCCL's send and receive take no number of threads");
  EXPECT_EQ(refusal("comm_threads", elementwise_site("mi250x")), "RCCL takes no number of threads");
}

TEST(Controls, APartitionHasAnSmForEachCommBlock) {
  OverlapPlan plan;
  EXPECT_EQ(values("comm_sms", elementwise_site()), (Values{24, 32}));  // the library's 24 blocks
  plan.comm_blocks = Blocks(12);
  EXPECT_EQ(values("comm_sms", elementwise_site(), plan), (Values{16, 24, 32}));
  plan.comm_blocks = Blocks(64);
  EXPECT_EQ(refusal("comm_sms", elementwise_site(), plan),
            "64 comm blocks need 64 SMs of their own, expected at most half of 132 and 32");
}

TEST(Controls, CopyEnginesMoveAndNeverReduce) {
  EXPECT_EQ(values("copy_engine", library_site("h200", CollectiveOp::all_gather)), Values{1});
  EXPECT_EQ(refusal("copy_engine", library_site("h200", CollectiveOp::reduce_scatter)),
            "copy engines cannot reduce, and reduce_scatter does nothing else");
  OverlapPlan plan;
  plan.copy_engine = true;
  for (const char* name : {"launch_gate", "comm_blocks", "cluster", "comm_threads", "comm_sms"}) {
    EXPECT_EQ(refusal(name, library_site("h200", CollectiveOp::all_gather), plan),
              "copy engines move the data, the collective has no blocks")
        << name;
  }
  ControlSite fixed = library_site("h200", CollectiveOp::all_gather);
  fixed.collective.comm_blocks = Blocks(16);
  EXPECT_EQ(refusal("copy_engine", fixed), "copy engines have no blocks, of which the scenario fixes number or cluster");
  // Of an all-reduce they move the half that gathers; the half that reduces has blocks as ever.
  EXPECT_EQ(values("copy_engine", library_site()), Values{1});
  EXPECT_EQ(values("launch_gate", library_site(), plan), Values{1});
  EXPECT_EQ(values("comm_blocks", library_site(), plan), values("comm_blocks", library_site()));
}

TEST(Controls, OnlyWhatStaysOnADeviceMakesADetour) {
  OverlapPlan plan;
  EXPECT_EQ(refusal("peer_detour", library_site("h200", CollectiveOp::all_to_all), plan),
            "copies alone make detours, expected beside copy_engine");
  plan.copy_engine = true;
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::all_to_all}) {
    EXPECT_EQ(values("peer_detour", library_site("h200", op), plan), Values{1});
  }
  EXPECT_EQ(refusal("peer_detour", library_site(), plan),
            "copy engines gather an all_reduce in place, nothing is copied within a device");
}

TEST(Controls, SymmetricMemoryIsForKernelsOfNcclThatReduceOrGather) {
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    EXPECT_EQ(values("symmetric", library_site("h200", op)), Values{1});
  }
  EXPECT_EQ(refusal("symmetric", library_site("h200", CollectiveOp::all_to_all)),
            "NCCL's send and receive have no kernel on symmetric memory");
  EXPECT_EQ(refusal("symmetric", elementwise_site("mi250x")), "kernels on symmetric memory are NCCL's");
  OverlapPlan plan;
  plan.copy_engine = true;
  EXPECT_EQ(values("symmetric", library_site(), plan), Values{1});  // the half that reduces has a kernel
  EXPECT_EQ(refusal("symmetric", library_site("h200", CollectiveOp::all_gather), plan),
            "copy engines move the data, the collective has no blocks");
  plan.symmetric = true;
  EXPECT_EQ(refusal("comm_threads", library_site(), plan), "NCCL's kernels on symmetric memory take no number of threads");
}

TEST(Controls, TheGateNeedsALaterKernel) {
  const ControlSite site = elementwise_site();
  EXPECT_EQ(values("launch_gate", site), Values{1});
  EXPECT_EQ(refusal("launch_gate", one_iteration(Pattern::pipeline)), "one iteration has no later compute kernel that could wait");
  EXPECT_EQ(refusal("launch_gate", one_iteration(Pattern::pair)),
            "the collective is launched last, no compute kernel could wait for it");
}

TEST(Controls, WhatTheUserFixedIsTheOnlyValue) {
  ControlSite site = elementwise_site();
  site.collective.comm_blocks = Blocks(6);
  site.comm_blocks = Blocks(6);
  EXPECT_EQ(values("comm_blocks", site), Values{6});
  EXPECT_EQ(plain_plan(site).comm_blocks, Blocks(6));
}

TEST(Controls, WhatAMachineLacksIsTheRefusal) {
  ControlSite site = library_site("h200", CollectiveOp::all_gather);
  site.can.copy_engines = unavailable("not on these links");
  EXPECT_EQ(refusal("copy_engine", site), "not on these links");
  OverlapPlan plan;
  plan.copy_engine = true;
  EXPECT_EQ(check_plan(site, plan).error().message, "copy_engine: not on these links");
  EXPECT_EQ(refusal("peer_detour", site, plan), "not on these links");
  EXPECT_EQ(values("launch_gate", site), Values{1});
}

TEST(Controls, EachHasWordsForTheDocumentation) {
  for (const Control& each : controls()) {
    EXPECT_FALSE(each.purpose.empty()) << each.name;
    EXPECT_FALSE(each.values_in_words.empty()) << each.name;
    EXPECT_FALSE(each.refused_in_words.empty()) << each.name;
    EXPECT_NE(each.legal, nullptr) << each.name;
    EXPECT_EQ(each.is_switch, each.words.find("{}") == std::string_view::npos) << each.name;
  }
}

TEST(Controls, OneIsTheSchemeOfEachPeer) {
  std::set<Scheme> alone;
  for (const Control& each : controls()) {
    if (each.peer.plans == nullptr) { continue; }
    EXPECT_TRUE(alone.insert(*each.peer.scheme).second) << each.name;
  }
  for (const Scheme scheme : schemes()) { EXPECT_EQ(alone.contains(scheme), is_peer(scheme)) << to_string(scheme); }
}

TEST(CheckPlan, NamesTheFirstControlThatCannotAct) {
  OverlapPlan plan;
  plan.priority = true;
  EXPECT_TRUE(check_plan(library_site(), plan));
  plan.comm_blocks = Blocks(6);
  EXPECT_EQ(check_plan(library_site(), plan).error().message, "comm_blocks: 6, expected one of 4, 8, 12, 16, 24, 32");
  plan.comm_blocks = Blocks(8);
  plan.cluster = 3;
  EXPECT_EQ(check_plan(library_site(), plan).error().message, "cluster: 3, expected one of 1, 2, 4");
  plan.cluster.reset();
  plan.blocks_per_sm = BlocksPerSm(2);
  EXPECT_EQ(check_plan(library_site(), plan).error().message, "blocks_per_sm: library kernel: padding cannot act");
}

TEST(OverlapPlanWords, NameWhatIsSet) {
  OverlapPlan plan;
  EXPECT_EQ(in_words(plan), "no control");
  plan.priority = true;
  plan.comm_blocks = Blocks(24);
  plan.cluster = 1;
  plan.sm_target = Sms(108);
  EXPECT_EQ(in_words(plan), "priority, 24 comm blocks, cluster 1, SM target 108");
}

}  // namespace
}  // namespace elbowroom
