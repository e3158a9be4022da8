#include "elbowroom/runtime/plan_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/interop/typed.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PlanParts, SayWhoCarriesOutWhat) {
  OverlapPlan plan;
  plan.blocks_per_sm = BlocksPerSm(4);
  plan.pad = Bytes(512);
  plan.priority = true;
  plan.launch_gate = true;
  plan.comm_blocks = Blocks(16);
  plan.cluster = 2;
  plan.sm_target = Sms(116);
  plan.symmetric = true;
  const PlanParts parts = parts_of(plan);
  OverlapPlan launch;
  launch.blocks_per_sm = BlocksPerSm(4);
  launch.pad = Bytes(512);
  launch.priority = true;
  EXPECT_EQ(parts.launch, launch);
  EXPECT_TRUE(parts.launch_gate);
  EXPECT_TRUE(parts.communicator);
  EXPECT_THAT(parts.application, ElementsAre("sm_target", "symmetric"));
}

TEST(PlanParts, OfNothingAreNothing) {
  const PlanParts parts = parts_of({});
  EXPECT_EQ(parts.launch, OverlapPlan{});
  EXPECT_FALSE(parts.launch_gate);
  EXPECT_FALSE(parts.communicator);
  EXPECT_THAT(parts.application, IsEmpty());
}

/// As nccl.h has it, and a member that no plan knows.
struct Config {
  int cgaClusterSize = -1;
  int minCTAs = -1;
  int maxCTAs = -1;
  int splitShare = -1;
};

TEST(Configure, SetsTheBudgetAndClusterOfAPlanAndNothingElse) {
  Config config;
  OverlapPlan plan;
  plan.priority = true;
  interop::configure(config, plan);
  EXPECT_EQ(config.minCTAs, -1);
  EXPECT_EQ(config.maxCTAs, -1);
  EXPECT_EQ(config.cgaClusterSize, -1);
  plan.comm_blocks = Blocks(16);
  interop::configure(config, plan);
  EXPECT_EQ(config.minCTAs, 16);
  EXPECT_EQ(config.maxCTAs, 16);
  EXPECT_EQ(config.cgaClusterSize, -1);
  plan.cluster = 2;
  interop::configure(config, plan);
  EXPECT_EQ(config.cgaClusterSize, 2);
  EXPECT_EQ(config.splitShare, -1);
}

}  // namespace
}  // namespace elbowroom
