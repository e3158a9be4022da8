#include "elbowroom/plan/candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "elbowroom/plan/ranking.hpp"
#include "unit/plan/sites.hpp"

namespace elbowroom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::elementwise_site;
using testing::kSimtGemm;
using testing::kTensorGemm;
using testing::library_site;

OverlapPlan capped(const ControlSite& site, std::int64_t blocks) {
  OverlapPlan plan;
  control("blocks_per_sm").set(site, plan, blocks);
  return plan;
}

TEST(ReasonOf, AResidencyCapDependsOnWhatFitsBesideIt) {
  const ControlSite site = elementwise_site();
  // The 17 warps of a communication block leave one of four partitions 16,384 - 5 * 3,072 = 1,024 registers, too few for the two
  // compute warps of 1,024 each that even a single block has there.
  EXPECT_EQ(in_words(reason_of(site, capped(site, 1))), "drains sooner");
  EXPECT_EQ(in_words(reason_of(site, capped(site, 7))), "drains sooner");
  // Of 256 threads and one more warp there are three warps at most: 7,168 registers are left. In shared memory 116,864 B of the
  // padded block and 105,856 B of the communication block are less than 233,472 B.
  OverlapPlan small = capped(site, 1);
  small.comm_threads = Threads(256);
  EXPECT_EQ(in_words(reason_of(site, small)), "co-resident");
  // Two padded blocks take 155,904 B of shared memory, which is too much beside it.
  small = capped(site, 2);
  small.comm_threads = Threads(256);
  EXPECT_EQ(in_words(reason_of(site, small)), "drains sooner");
}

TEST(ReasonOf, TheOtherControls) {
  const ControlSite site = library_site("h200", CollectiveOp::all_gather);
  OverlapPlan plan;
  EXPECT_EQ(in_words(reason_of(site, plan)), "as launched");
  plan.launch_gate = true;
  EXPECT_EQ(in_words(reason_of(site, plan)), "order only");
  plan.comm_blocks = Blocks(8);
  EXPECT_EQ(in_words(reason_of(site, plan)), "smaller collective");
  plan.sm_target = Sms(108);
  EXPECT_EQ(in_words(reason_of(site, plan)), "SM split 108 + 24");  // of 132
  OverlapPlan parted;
  parted.comm_sms = Sms(32);
  EXPECT_EQ(in_words(reason_of(site, parted)), "SM partition 100 + 32");
  OverlapPlan copied;
  copied.copy_engine = true;
  EXPECT_EQ(in_words(reason_of(site, copied)), "copy engines");
  copied.priority = true;
  EXPECT_EQ(in_words(reason_of(site, copied)), "copy engines, first");
  copied.blocks_per_sm = BlocksPerSm(2);
  EXPECT_EQ(in_words(reason_of(site, copied)), "copy engines, capped");
  copied.peer_detour = true;
  EXPECT_EQ(in_words(reason_of(site, copied)), "copy engines, detour");
  OverlapPlan shared;
  shared.symmetric = true;
  shared.comm_blocks = Blocks(16);
  EXPECT_EQ(in_words(reason_of(site, shared)), "smaller collective, symmetric memory");
  shared.copy_engine = true;
  EXPECT_EQ(in_words(reason_of(library_site(), shared)), "smaller collective, symmetric memory, copy engines gather");
  // Half of an all-reduce is a kernel, which the other controls make room for.
  OverlapPlan halved;
  halved.copy_engine = true;
  EXPECT_EQ(in_words(reason_of(library_site(), halved)), "as launched, copy engines gather");
  halved.sm_target = Sms(100);
  EXPECT_EQ(in_words(reason_of(library_site(), halved)), "SM split 100 + 32, copy engines gather");
}

TEST(LimitingResource, IsTheLongerSideOrWhatKeepsTheCommBlockOut) {
  const Elementwise gelu{ElementwiseOp::gelu, DataType::f32, mebibytes(4096)};
  const LibraryGemm library{8192, 8192, 8192, DataType::bf16};
  EXPECT_EQ(limiting_resource(elementwise_site(), gelu, Microseconds(10), Microseconds(20)), "link");
  EXPECT_EQ(limiting_resource(elementwise_site(), gelu, Microseconds(20), Microseconds(10)), "memory bandwidth");
  EXPECT_EQ(limiting_resource(library_site(), library, Microseconds(20), Microseconds(10)), "SM slots");
  ControlSite site = elementwise_site();
  site.compute = kSimtGemm;
  // Four blocks of 256 x 56 take 57,344 of 65,536 registers, the communication block wants 52,224.
  EXPECT_EQ(limiting_resource(site, TiledGemm{}, std::nullopt, std::nullopt), "registers");
}

TEST(CandidateSpace, EveryPlanInItCanActAndHasAReason) {
  for (const ControlSite& site : {elementwise_site(), library_site(), elementwise_site("a100"), elementwise_site("mi250x"),
                                  library_site("h200", CollectiveOp::all_to_all)}) {
    const CandidateSpace space(site);
    std::set<std::pair<Scheme, OverlapPlan>> seen;
    for (const Candidate& candidate : space.every()) {
      const Status legal = check_plan(site, candidate.plan);
      EXPECT_TRUE(legal) << legal.error().message;
      EXPECT_EQ(parse_reason(in_words(candidate.reason)), candidate.reason);
      EXPECT_TRUE(seen.insert({candidate.scheme, candidate.plan}).second) << in_words(candidate.plan) << " is there twice";
    }
    EXPECT_LE(space.starts().size(), 24U);
    // The least is MI250X's: 8 residencies x 2 priorities x 6 budgets, a partition, and the two in turn.
    EXPECT_GE(seen.size(), 98U);
    // A search comes to no plan that is not among them: of every seventh the neighbours are.
    for (auto at = seen.begin(); at != seen.end(); std::advance(at, std::min<std::ptrdiff_t>(7, std::distance(at, seen.end())))) {
      for (const Candidate& neighbour : space.neighbours(at->second)) {
        ASSERT_TRUE(seen.contains({neighbour.scheme, neighbour.plan}))
            << in_words(at->second) << " to " << in_words(neighbour.plan);
      }
    }
  }
}

TEST(CandidateSpace, NeighboursDifferInOneControlByOneStep) {
  const CandidateSpace space(elementwise_site());
  OverlapPlan plan = capped(space.site(), 4);
  plan.comm_blocks = Blocks(8);
  const std::vector<Candidate> neighbours = space.neighbours(plan);
  const auto has = [&](const OverlapPlan& other) {
    return std::any_of(neighbours.begin(), neighbours.end(), [&](const Candidate& c) { return c.plan == other; });
  };
  // None of these is a baseline's: each acts in windows only.
  for (const std::int64_t cap : {3, 5}) {
    OverlapPlan moved = capped(space.site(), cap);
    moved.comm_blocks = Blocks(8);
    moved.windows_only = true;
    EXPECT_TRUE(has(moved)) << cap;
  }
  OverlapPlan far = capped(space.site(), 6);
  far.comm_blocks = Blocks(8);
  far.windows_only = true;
  EXPECT_FALSE(has(far));
  // Budgets are 4, 8, 12, 16, the library's own 24, 32.
  OverlapPlan budget = capped(space.site(), 4);
  budget.windows_only = true;
  budget.comm_blocks = Blocks(12);
  EXPECT_TRUE(has(budget));
  budget.comm_blocks = Blocks(16);
  EXPECT_FALSE(has(budget));
  OverlapPlan both = capped(space.site(), 3);
  both.comm_blocks = Blocks(12);
  both.windows_only = true;
  EXPECT_FALSE(has(both));
}

TEST(CandidateSpace, BaselinesActEverywhereAndWhatTheyCapCanBeKeptToWindows) {
  const CandidateSpace space(elementwise_site());
  OverlapPlan scheme = capped(space.site(), 4);
  scheme.priority = true;
  const std::vector<Candidate> neighbours = space.neighbours(scheme);
  OverlapPlan windowed = scheme;
  windowed.windows_only = true;
  ASSERT_FALSE(neighbours.empty());
  EXPECT_EQ(neighbours.front().plan, windowed);
  EXPECT_EQ(neighbours.front().scheme, Scheme::tuned);
  OverlapPlan tighter = capped(space.site(), 3);
  tighter.priority = true;
  EXPECT_EQ(std::count(neighbours.begin(), neighbours.end(), space.describe(tighter)), 1);
  // More blocks than the library's own 24 serve the collective that runs alone as well.
  OverlapPlan more;
  more.priority = true;
  const std::vector<Candidate> by_priority = space.neighbours(more);
  more.comm_blocks = Blocks(32);
  EXPECT_EQ(std::count(by_priority.begin(), by_priority.end(), space.describe(more)), 1);
  more.comm_blocks = Blocks(16);
  more.windows_only = true;
  EXPECT_EQ(std::count(by_priority.begin(), by_priority.end(), space.describe(more)), 1);
  // From a plan that acts in windows, steps stay there while they can matter.
  for (const Candidate& candidate : space.neighbours(windowed)) {
    EXPECT_EQ(candidate.plan.windows_only, candidate.plan.blocks_per_sm || candidate.plan.comm_blocks || candidate.plan.cluster);
  }
}

TEST(CandidateSpace, WhatAMachineRefusesIsNotInIt) {
  const auto no_gate = [](const OverlapPlan& plan) { return plan.launch_gate ? Status(invalid_input("no gate here")) : Status(); };
  const CandidateSpace space(elementwise_site(), no_gate);
  for (const std::vector<Candidate>& found : {space.starts(), space.every(), space.neighbours({})}) {
    ASSERT_FALSE(found.empty());
    EXPECT_TRUE(std::none_of(found.begin(), found.end(), [](const Candidate& candidate) { return candidate.plan.launch_gate; }));
  }
}

std::vector<std::string> starts_with(bool OverlapPlan::* control, const ControlSite& site) {
  std::vector<std::string> plans;
  for (const Candidate& candidate : CandidateSpace(site).starts()) {
    if (candidate.plan.*control) { plans.push_back(in_words(candidate.plan)); }
  }
  return plans;
}

TEST(CandidateSpace, CopyEnginesAreCombinedWithWhatElseActs) {
  EXPECT_THAT(
      starts_with(&OverlapPlan::copy_engine, elementwise_site()),
      ElementsAre("launch gate, 32 comm blocks, cluster 1, symmetric memory, copy engines",
                  "launch gate, 16 comm blocks, symmetric memory, copy engines, in windows only",
                  "launch gate, copy engines, in windows only", "launch gate, 16 comm blocks, copy engines, in windows only",
                  "4 blocks/SM, launch gate, 8 comm blocks, copy engines, in windows only"));
  // Eight blocks on each of 132 SMs, where there is room for five: two waves, of which a cap below four would make three.
  ControlSite few = elementwise_site();
  few.compute = kTensorGemm;
  few.grid = Blocks(1024);
  EXPECT_THAT(starts_with(&OverlapPlan::copy_engine, few),
              Contains("4 blocks/SM, launch gate, 8 comm blocks, copy engines, in windows only"));
  few.grid = Blocks(16384);  // 125 on each: 25 waves
  EXPECT_THAT(starts_with(&OverlapPlan::copy_engine, few),
              Contains("3 blocks/SM, launch gate, 8 comm blocks, copy engines, in windows only"));
  EXPECT_THAT(starts_with(&OverlapPlan::copy_engine, library_site()),
              Contains("priority, 24 comm blocks, cluster 1, SM target 108, copy engines, in windows only"));
  // 256 blocks are two on each of 132 SMs, where there is room for five.
  ControlSite exchange = elementwise_site("h200", CollectiveOp::all_to_all);
  exchange.compute = kTensorGemm;
  exchange.grid = Blocks(256);
  EXPECT_THAT(starts_with(&OverlapPlan::copy_engine, exchange),
              ElementsAre("priority, copy engines, in windows only", "copy engines, in windows only",
                          "copy engines, own share by way of a peer, in windows only",
                          "2 blocks/SM, priority, copy engines, in windows only"));
  exchange.grid = Blocks(661);  // one more than five on each: they never run at once
  EXPECT_EQ(starts_with(&OverlapPlan::copy_engine, exchange).size(), 3U);
  // Switched on and off in a step, and nothing that the engines replace stays.
  OverlapPlan copied;
  copied.copy_engine = true;
  copied.windows_only = true;
  const std::vector<Candidate> neighbours = CandidateSpace(library_site("h200", CollectiveOp::all_gather)).neighbours(copied);
  EXPECT_THAT(neighbours, Contains(::testing::Field(&Candidate::plan, OverlapPlan{})));
  for (const Candidate& neighbour : neighbours) { EXPECT_FALSE(neighbour.plan.copy_engine && neighbour.plan.comm_blocks); }
  // A step leads to the detour, and back to no copies at all.
  OverlapPlan detour = copied;
  detour.peer_detour = true;
  EXPECT_THAT(neighbours, Contains(::testing::Field(&Candidate::plan, detour)));
  const std::vector<Candidate> beside = CandidateSpace(library_site("h200", CollectiveOp::all_gather)).neighbours(detour);
  EXPECT_THAT(beside, Contains(::testing::Field(&Candidate::plan, copied)));
  EXPECT_THAT(beside, Contains(::testing::Field(&Candidate::plan, OverlapPlan{})));
}

TEST(CandidateSpace, SymmetricMemoryBeginsWithTwoAndFourTimesTheLibrarysOwnBlocks) {
  EXPECT_THAT(starts_with(&OverlapPlan::symmetric, library_site("h200", CollectiveOp::reduce_scatter)),
              ElementsAre("priority, 16 comm blocks, symmetric memory, in windows only",
                          "launch gate, 16 comm blocks, symmetric memory, in windows only",
                          "priority, 32 comm blocks, cluster 1, symmetric memory",
                          "launch gate, 16 comm blocks, cluster 1, SM target 116, symmetric memory, in windows only"));
  EXPECT_TRUE(starts_with(&OverlapPlan::symmetric, library_site("h200", CollectiveOp::all_to_all)).empty());
  // Its own number of blocks stands for eight; 24, a ring's own number, is a step as any other.
  ControlSite site = library_site();
  site.comm_blocks = Blocks(24);
  OverlapPlan plan;
  plan.symmetric = plan.windows_only = true;
  plan.comm_blocks = Blocks(16);
  std::vector<std::string> steps;
  for (const Candidate& neighbour : CandidateSpace(site).neighbours(plan)) {
    OverlapPlan others = neighbour.plan;
    others.comm_blocks = plan.comm_blocks;
    if (others == plan) { steps.push_back(in_words(neighbour.plan)); }
  }
  EXPECT_THAT(
      steps, ElementsAre("12 comm blocks, symmetric memory, in windows only", "24 comm blocks, symmetric memory, in windows only"));
  // Few blocks are as fast as the library's own many: the exposed collective can have them too.
  OverlapPlan everywhere = plan;
  everywhere.windows_only = false;
  EXPECT_THAT(CandidateSpace(site).neighbours(plan), Contains(::testing::Field(&Candidate::plan, everywhere)));
}

// Copies of an exposed all-to-all can be faster than kernels, which only a trial tells.
TEST(CandidateSpace, TriesCopyEnginesEverywhereBesideInWindowsOnly) {
  const ControlSite site = library_site("h200", CollectiveOp::all_to_all);
  OverlapPlan plan;
  plan.priority = plan.copy_engine = plan.windows_only = true;
  OverlapPlan everywhere = plan;
  everywhere.windows_only = false;
  EXPECT_THAT(CandidateSpace(site).neighbours(plan), Contains(::testing::Field(&Candidate::plan, everywhere)));
  // Fewer blocks would only be a loss where nothing runs beside them.
  OverlapPlan fewer = everywhere;
  fewer.copy_engine = false;
  fewer.comm_blocks = Blocks(8);
  OverlapPlan fewer_in_windows = fewer;
  fewer_in_windows.windows_only = true;
  EXPECT_THAT(CandidateSpace(site).neighbours(fewer_in_windows),
              ::testing::Not(Contains(::testing::Field(&Candidate::plan, fewer))));
}

TEST(CandidateSpace, ActsEverywhereWhereWindowsCannotBeTold) {
  const ControlSite site = elementwise_site();
  const CandidateSpace space(
      site, [](const OverlapPlan& plan) { return plan.windows_only ? Status(invalid_input("windows_only: left out")) : Status(); });
  std::vector<OverlapPlan> plans;
  for (const Candidate& candidate : CandidateSpace(site).starts()) {
    OverlapPlan everywhere = candidate.plan;
    everywhere.windows_only = false;
    if (std::ranges::find(plans, everywhere) == plans.end()) { plans.push_back(everywhere); }
  }
  std::vector<OverlapPlan> without;
  for (const Candidate& candidate : space.starts()) {
    if (candidate.scheme != Scheme::sequential) { without.push_back(candidate.plan); }
  }
  EXPECT_THAT(without, ::testing::UnorderedElementsAreArray(plans));
}

TEST(CandidateSpace, NeverOverrulesTheUsersBudget) {
  ControlSite site = elementwise_site();
  site.collective.comm_blocks = Blocks(8);
  site.collective.cluster = 2;
  site.comm_blocks = Blocks(8);
  for (const Candidate& candidate : CandidateSpace(site).every()) {
    EXPECT_EQ(candidate.plan.comm_blocks, Blocks(8));
    EXPECT_EQ(candidate.plan.cluster, 2);
  }
}

/// Least at eight comm blocks with priority and a cap of 5.
Result<Microseconds> valley(Scheme scheme, const OverlapPlan& plan) {
  if (scheme == Scheme::sequential) { return Microseconds(200); }
  if (plan.comm_sms || plan.copy_engine) { return invalid_input("not known"); }
  const double cap = plan.blocks_per_sm ? static_cast<double>(plan.blocks_per_sm->count()) : 8;
  const double budget = plan.comm_blocks ? static_cast<double>(plan.comm_blocks->count()) : 24;
  return Microseconds(100 + 3 * (cap - 5) * (cap - 5) + (budget - 8) * (budget - 8) / 8 + (plan.priority ? 0 : 20));
}

TEST(RankCandidates, FindsTheBottomOfAValleyAndKeepsWhatNobodyPredicts) {
  const CandidateSpace space(elementwise_site());
  const std::vector<Candidate> ranked = rank_candidates(space, valley);
  EXPECT_EQ(ranked.front().predicted, Microseconds(100));
  EXPECT_EQ(ranked.front().plan.blocks_per_sm, BlocksPerSm(5));
  EXPECT_EQ(ranked.front().plan.comm_blocks, Blocks(8));
  EXPECT_TRUE(ranked.front().plan.priority);
  EXPECT_FALSE(ranked.back().predicted);
  EXPECT_TRUE(std::is_sorted(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
    return a.predicted && b.predicted ? *a.predicted < *b.predicted : a.predicted.has_value() && !b.predicted;
  }));
}

TEST(RankCandidates, WithoutAPredictorAreTheStarts) {
  const CandidateSpace space(library_site());
  EXPECT_EQ(rank_candidates(space, {}), space.starts());
}

TEST(FirstToMeasure, HasTheBaselinesThatAChoiceMustBeat) {
  const CandidateSpace space(elementwise_site());
  const std::vector<Candidate> first = first_to_measure(rank_candidates(space, valley), 10);
  EXPECT_EQ(first.size(), 10U);
  std::set<Scheme> schemes;
  for (const Candidate& candidate : first) { schemes.insert(candidate.scheme); }
  for (const Scheme plain : {Scheme::sequential, Scheme::concurrent, Scheme::priority, Scheme::shaped_priority, Scheme::tuned}) {
    EXPECT_TRUE(schemes.contains(plain)) << to_string(plain);
  }
}

TEST(SafeChoice, IsPriorityOnlyWhereItIsPredictedToPay) {
  const CandidateSpace space(elementwise_site());
  EXPECT_EQ(safe_choice(space, valley).scheme, Scheme::priority);
  EXPECT_EQ(safe_choice(space, {}).scheme, Scheme::concurrent);
  const auto alike = [](Scheme, const OverlapPlan& plan) { return Result<Microseconds>(Microseconds(plan.priority ? 98 : 100)); };
  EXPECT_EQ(safe_choice(space, alike).scheme, Scheme::concurrent);  // 2 % are not worth a risk
}

// In no measured choice of the suites was one of them taken; who wants one types it.
TEST(CandidateSpace, LeavesOutControlsThatNoChoiceTook) {
  for (const ControlSite& site : {elementwise_site(), library_site()}) {
    for (const Candidate& candidate : CandidateSpace(site).every()) {
      const OverlapPlan& plan = candidate.plan;
      ASSERT_FALSE(plan.carveout || plan.comm_threads || plan.comm_sms) << in_words(plan);
    }
    OverlapPlan typed;
    typed.comm_threads = Threads(256);
    EXPECT_TRUE(check_plan(site, typed));
  }
}

}  // namespace
}  // namespace elbowroom
