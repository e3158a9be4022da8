#include "plan/control_name.hpp"

#include <gtest/gtest.h>

namespace elbowroom::detail {
namespace {

TEST(ControlName, IsThatOfTheMembersRow) {
  EXPECT_EQ(name_of<&OverlapPlan::launch_gate>(), "launch_gate");
  EXPECT_EQ(name_of<&OverlapPlan::blocks_per_sm>(), "blocks_per_sm");
  EXPECT_EQ(name_of<&CommSettings::comm_threads>(), "comm_threads");
  EXPECT_EQ(name_of<&OverlapPlan::windows_only>(), "windows_only");
}

TEST(ControlName, OfWhatFollowsAControlIsItsOwn) { EXPECT_EQ(name_of<&OverlapPlan::pad>(), "pad_bytes"); }

TEST(ControlName, StandsBeforeTheReason) {
  EXPECT_EQ(refusal_of<&OverlapPlan::comm_sms>("8, expected 1 to 4"), "comm_sms: 8, expected 1 to 4");
}

}  // namespace
}  // namespace elbowroom::detail
