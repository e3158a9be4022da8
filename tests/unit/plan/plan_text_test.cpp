#include "elbowroom/plan/plan_text.hpp"

#include <gtest/gtest.h>

#include "elbowroom/plan/candidates.hpp"
#include "unit/plan/sites.hpp"

namespace elbowroom {
namespace {

using testing::elementwise_site;
using testing::library_site;

std::string refusal(const ControlSite& site, std::string_view text) {
  const Result<std::vector<ControlSetting>> settings = parse_plan(text);
  if (!settings) { return settings.error().message; }
  const Result<OverlapPlan> plan = plan_of(site, *settings);
  return plan ? in_words(*plan) : plan.error().message;
}

TEST(PlanText, SetsWhatItNamesInAnyOrder) {
  const Result<std::vector<ControlSetting>> settings = parse_plan("windows_only,cluster=2,blocks_per_sm=5,priority,comm_blocks=8");
  ASSERT_TRUE(settings) << settings.error().message;
  const Result<OverlapPlan> plan = plan_of(elementwise_site(), *settings);
  ASSERT_TRUE(plan) << plan.error().message;
  OverlapPlan expected;
  expected.blocks_per_sm = BlocksPerSm(5);
  expected.pad = Bytes(38'016);  // six fit with up to 233,472 / 6 - 1,024 = 37,888 B; one step of 128 B more
  expected.priority = true;
  expected.comm_blocks = Blocks(8);
  expected.cluster = 2;
  expected.windows_only = true;
  EXPECT_EQ(*plan, expected) << in_words(*plan);
}

TEST(PlanText, KeepsWhatTheUserFixed) {
  ControlSite site = elementwise_site();
  site.collective.comm_blocks = Blocks(6);
  site.comm_blocks = Blocks(6);
  EXPECT_EQ(plan_of(site, *parse_plan("priority"))->comm_blocks, Blocks(6));
  EXPECT_EQ(refusal(site, "comm_blocks=8"), "comm_blocks: 8, expected one of 6");
}

TEST(PlanText, SaysWhatIsWrong) {
  const ControlSite site = elementwise_site();
  EXPECT_EQ(refusal(site, "prioriti"),
            "\"prioriti\", expected one of blocks_per_sm, priority, launch_gate, comm_blocks, cluster, sm_target, comm_threads, "
            "carveout, "
            "comm_sms, symmetric, copy_engine, peer_detour, windows_only, with =N where it takes a number");
  EXPECT_EQ(refusal(site, "comm_blocks=eight"), "comm_blocks: \"eight\", expected a number from 0 to 65536");
  EXPECT_EQ(refusal(site, "comm_blocks=-8"), "comm_blocks: \"-8\", expected a number from 0 to 65536");
  EXPECT_EQ(refusal(site, "comm_blocks=99999999999999999999"),
            "comm_blocks: \"99999999999999999999\", expected a number from 0 to 65536");
  EXPECT_EQ(refusal(site, "comm_blocks=\n\x1b"), "comm_blocks: \"\\n\\u001b\", expected a number from 0 to 65536");
  EXPECT_EQ(refusal(site, "comm_blocks"), "comm_blocks: no number, expected comm_blocks=N");
  EXPECT_EQ(refusal(site, "priority=2"), "priority: 2, expected priority alone");
  EXPECT_EQ(refusal(site, "comm_blocks=65537"), "comm_blocks: \"65537\", expected a number from 0 to 65536");
  EXPECT_EQ(refusal(site, "comm_blocks=9"), "comm_blocks: 9, expected one of 4, 8, 12, 16, 24, 32");
  EXPECT_EQ(refusal(site, "blocks_per_sm=9"), "blocks_per_sm: 9, expected one of 1, 2, 3, 4, 5, 6, 7");
  EXPECT_EQ(refusal(site, "priority,priority"), "priority: given twice, expected once");
  EXPECT_EQ(refusal(site, "sm_target=108"), "sm_target: SM target acts only on library GEMMs, this kernel's grid is its own");
  EXPECT_EQ(refusal(site, "priority,windows_only"), "windows_only: nothing in the plan changes a launch that runs alone");
  const ControlSite gather = library_site("h200", CollectiveOp::all_gather);
  EXPECT_EQ(refusal(gather, "comm_blocks=8,copy_engine"), "comm_blocks: copy engines move the data, the collective has no blocks");
  EXPECT_EQ(refusal(gather, "peer_detour"), "peer_detour: copies alone make detours, expected beside copy_engine");
}

/// Every plan of the space can be typed: one part for each control that it sets.
TEST(PlanText, EveryCandidateCanBeTyped) {
  for (const ControlSite& site : {elementwise_site(), library_site("h200", CollectiveOp::all_gather), elementwise_site("mi250x")}) {
    const OverlapPlan plain = plain_plan(site);
    for (const Candidate& candidate : CandidateSpace(site).starts()) {
      std::string text;
      for (const Control& control : controls()) {
        const auto value = control.get(candidate.plan);
        if (value && value != control.get(plain)) {
          text += (text.empty() ? "" : ",") + std::string(control.name) + "=" + std::to_string(*value);
        }
      }
      if (text.empty()) { continue; }
      EXPECT_EQ(refusal(site, text), in_words(candidate.plan)) << text;
    }
  }
}

}  // namespace
}  // namespace elbowroom
