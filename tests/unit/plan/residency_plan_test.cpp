#include "elbowroom/plan/residency_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "elbowroom/plan/occupancy.hpp"
#include "unit/plan/footprints.hpp"

namespace elbowroom {
namespace {

using testing::any_footprint;
using testing::block;
using testing::comm;
using testing::device;

TEST(ResidencyPlan, RegistersKeepNcclOutOfASimtGemmOnH200) {
  const Result<ResidencyPlan> plan = plan_residencies(device("h200"), block(256, 56, 4'096), comm("nccl-2.28:544", "h200"));
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->rows.size(), 4U);
  for (const ResidencyRow& row : plan->rows) {
    EXPECT_TRUE(row.comm_blocked_by.contains(Resource::registers));
    EXPECT_EQ(row.comm_pad_max, std::nullopt);
  }
  // Beside 4 unpadded blocks of 5,120 B there are 212,992 B left for NCCL's 105,856; beside 3 of 58,496 only 57,984.
  EXPECT_EQ(plan->rows[0].comm_blocked_by, ResourceSet{Resource::registers});
  EXPECT_EQ(plan->rows[1].comm_blocked_by, (ResourceSet{Resource::registers, Resource::shared_memory}));
  EXPECT_EQ(plan->rows[0].gain, Gain::none);
  EXPECT_EQ(plan->rows[1].gain, Gain::drains_sooner);
}

TEST(ResidencyPlan, SmallBlocksOnH200ShareAnSmWithNcclAtOnePerSm) {
  // 4 warps of 16 registers (512 each), beside NCCL's 16 warps of 3,072: 12,288 + 512 in every partition. Shared memory leaves
  // 233,472 - 104,832 = 128,640 to one block; its range begins at 116,864. Both less the reserve of 1,024.
  const Result<ResidencyPlan> plan = plan_residencies(device("h200"), block(128, 16), comm("nccl-2.28:512", "h200"));
  ASSERT_TRUE(plan.ok());
  const ResidencyRow& last = plan->rows.back();
  EXPECT_EQ(last.range.blocks_per_sm, BlocksPerSm(1));
  EXPECT_EQ(last.range.pad_min, Bytes(116'864 - 1'024));
  EXPECT_EQ(last.comm_pad_max, Bytes(128'640 - 1'024));
  EXPECT_EQ(last.gain, Gain::co_resident);
}

TEST(ResidencyPlan, LdsWindowsBesideRccl) {
  // RCCL takes 4,608 B of LDS: 60,928 remain. n blocks of at most 60,928 / n in granules of 512 leave room for it.
  const Result<ResidencyPlan> plan = plan_residencies(device("mi250x"), block(256, 32), comm("rccl-5.2", "mi250x"));
  ASSERT_TRUE(plan.ok());
  struct Expected {
    std::int64_t blocks, pad_min, comm_pad_max;
  };
  for (const Expected& expected : {Expected{1, 33'280, 60'928}, Expected{2, 22'016, 30'208}, Expected{3, 16'896, 19'968}}) {
    const auto row = std::find_if(plan->rows.begin(), plan->rows.end(), [&](const ResidencyRow& each) {
      return each.range.blocks_per_sm == BlocksPerSm(expected.blocks);
    });
    ASSERT_NE(row, plan->rows.end());
    EXPECT_EQ(row->range.pad_min, Bytes(expected.pad_min));
    EXPECT_EQ(row->comm_pad_max, Bytes(expected.comm_pad_max));
    EXPECT_EQ(row->gain, Gain::co_resident);
  }
}

TEST(ResidencyPlan, SaysWhichKernelCannotRun) {
  EXPECT_EQ(plan_residencies(device("h200"), block(2'048, 32), block(32, 32)).error().message,
            "compute kernel: one block needs 2,048 threads, a block of h200 may have 1,024");
  EXPECT_EQ(plan_residencies(device("h200"), block(32, 32), block(2'048, 32)).error().message,
            "communication kernel: one block needs 2,048 threads, a block of h200 may have 1,024");
}

TEST(Gain, HasStableNames) {
  EXPECT_EQ(to_string(Gain::none), "none");
  EXPECT_EQ(to_string(Gain::drains_sooner), "drains_sooner");
  EXPECT_EQ(to_string(Gain::co_resident), "co_resident");
}

std::vector<ResidencyRow> padded_rows(std::string_view name, const KernelFootprint& footprint, std::string_view nccl) {
  const Result<ResidencyPlan> plan = plan_residencies(device(name), footprint, comm(nccl, name));
  if (!plan) { return {}; }
  return {plan->rows.begin() + 1, plan->rows.end()};
}

// n padded blocks take more than n/(n+1) >= 1/2 of the SM: 83,968 of 167,936 B on A100, 51,200 of 102,400 B on A40; NCCL's 90,368
// do not fit into the rest.
RC_GTEST_PROP(ResidencyPlanProperty, NoPadOnAmpereLeavesNcclItsSharedMemory, ()) {
  const std::string_view name = *rc::gen::element<std::string_view>("a40", "a100");
  const std::string_view nccl = *rc::gen::element<std::string_view>("nccl-2.28:512", "nccl-2.28:544", "nccl-2.28:640");
  for (const ResidencyRow& row : padded_rows(name, *any_footprint(), nccl)) {
    RC_ASSERT(row.comm_blocked_by.contains(Resource::shared_memory));
  }
}

// On Hopper only one block per SM may leave it, if the block takes 116,864 to 128,640 B, reserve included.
RC_GTEST_PROP(ResidencyPlanProperty, OnHopperOnlyOneBlockPerSmLeavesNcclItsSharedMemory, ()) {
  const std::string_view name = *rc::gen::element<std::string_view>("h100", "h200");
  const KernelFootprint footprint = *any_footprint();
  const Bytes own = Bytes(1'024) + footprint.static_shared + footprint.dynamic_shared;
  for (const ResidencyRow& row : padded_rows(name, footprint, "nccl-2.28:544")) {
    const bool shared_fits = !row.comm_blocked_by.contains(Resource::shared_memory);
    RC_ASSERT(shared_fits == (row.range.blocks_per_sm == BlocksPerSm(1)));
    if (row.comm_pad_max) {
      // Allocation goes in granules of 128 B.
      RC_ASSERT(round_up(own + row.range.pad_min, Bytes(128)) == Bytes(116'864));
      RC_ASSERT(round_up(own + *row.comm_pad_max, Bytes(128)) == Bytes(128'640));
    }
  }
}

// From NCCL 2.29 on a block takes 36,800 + 82,240 + 1,024 B: 113,408 B remain, and a block that is alone takes 116,864 at least.
RC_GTEST_PROP(ResidencyPlanProperty, OnHopperNoPadLeavesNewerNcclItsSharedMemory, ()) {
  const std::string_view name = *rc::gen::element<std::string_view>("h100", "h200");
  const std::string_view comm_name = *rc::gen::element<std::string_view>("nccl-2.29:512", "nccl-2.30:544", "nccl-2.32:640");
  for (const ResidencyRow& row : padded_rows(name, *any_footprint(), comm_name)) {
    RC_ASSERT(row.comm_blocked_by.contains(Resource::shared_memory));
  }
}

}  // namespace
}  // namespace elbowroom
