#include "interposer/core/policy.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

TEST(Controls, FollowThePolicyWithinTheRules) {
  Rules rules;
  rules.policy = Policy::observe;
  EXPECT_FALSE(controls(rules, 0).priority || controls(rules, 0).gate);
  rules.policy = Policy::gate;
  EXPECT_TRUE(controls(rules, 0).priority && controls(rules, 0).gate);
  EXPECT_FALSE(controls(rules, 0).shape || controls(rules, 0).sm_target);
  rules.policy = Policy::shape;
  EXPECT_FALSE(controls(rules, 0).shape) << "no rule names a kernel";
  rules.cap_count = 1;
  EXPECT_TRUE(controls(rules, 0).shape);
  rules.policy = Policy::gate;
  rules.gate = false;
  EXPECT_FALSE(controls(rules, 0).gate);
  EXPECT_TRUE(controls(rules, 0).priority);
}

TEST(Controls, OfAutoGrowWithTheArm) {
  Rules rules;
  ASSERT_EQ(trial_arms(rules), 3U);
  EXPECT_STREQ(text_of_arm(rules, 0), "plain");
  EXPECT_STREQ(text_of_arm(rules, 1), "priority");
  EXPECT_STREQ(text_of_arm(rules, 2), "priority, gate");
  EXPECT_FALSE(controls(rules, 2).sm_target) << "no rule gives one";
  rules.sm_target = 108;
  ASSERT_EQ(trial_arms(rules), 4U);
  EXPECT_STREQ(text_of_arm(rules, 2), "priority, gate");
  EXPECT_STREQ(text_of_arm(rules, 3), "priority, gate, sm_target");
  rules.gate = false;
  ASSERT_EQ(trial_arms(rules), 3U);
  EXPECT_STREQ(text_of_arm(rules, 2), "priority, sm_target");
  rules.trial = false;
  rules.gate = true;
  EXPECT_STREQ(text_of_arm(rules, 0), "priority, gate, sm_target");
}

TEST(Controls, OfAutoEndWithWhatRulesGiveForSingleKernels) {
  Rules rules;
  rules.cap_count = 1;
  EXPECT_EQ(trial_arms(rules), 3U) << "caps by name are for the policy that applies them uncompared";
  rules.footprint_count = 1;
  ASSERT_EQ(trial_arms(rules), 4U);
  EXPECT_FALSE(controls(rules, 2).shape);
  EXPECT_STREQ(text_of_arm(rules, 3), "priority, gate, shape");
  rules.product_count = 1;
  EXPECT_EQ(trial_arms(rules), 4U) << "all at once";
  EXPECT_STREQ(text_of_arm(rules, 3), "priority, gate, shape, sm_target");
  rules.gate = false;
  EXPECT_STREQ(text_of_arm(rules, 2), "priority, shape, sm_target");
  rules.priority = false;
  EXPECT_STREQ(text_of_arm(rules, 1), "plain");
  rules.trial = false;
  EXPECT_TRUE(controls(rules, 0).shape && controls(rules, 0).sm_target);
  rules.policy = Policy::gate;
  EXPECT_FALSE(controls(rules, 0).shape);
}

class Gate : public testing::Test {
 protected:
  Gate() {
    collective_.context = 0x1000;
    collective_.launched = collective_.has_begin = true;
    collective_.blocks = 24;
    collective_.sms = 132;
    facts_.grid = {132, 1, 1};
    question_.context = 0x1000;
    question_.sms = 132;
  }
  Collective collective_;
  LaunchFacts facts_;
  GateQuestion question_{.collective = collective_, .facts = facts_};
};

TEST_F(Gate, WaitsForACollectiveThatBeginsWithTheKernel) { EXPECT_EQ(gate_refusal(question_), Refusal::none); }

TEST_F(Gate, RefusesWhatIsNotWorthIt) {
  collective_.is_short = true;
  EXPECT_EQ(gate_refusal(question_), Refusal::short_collective);
}

TEST_F(Gate, RefusesKernelsThatLeaveRoom) {
  facts_.grid = {108, 1, 1};  // 108 + 24 blocks on 132 SMs
  EXPECT_EQ(gate_refusal(question_), Refusal::small_compute);
  facts_.grid = {109, 1, 1};
  EXPECT_EQ(gate_refusal(question_), Refusal::none);
  question_.sms = 0;
  facts_.grid = {1, 1, 1};
  EXPECT_EQ(gate_refusal(question_), Refusal::none) << "how many SMs there are is unknown";
}

TEST_F(Gate, RefusesWhatCouldDeadlockOrFail) {
  question_.order_lost = true;
  EXPECT_EQ(gate_refusal(question_), Refusal::order_lost);
  question_.order_lost = false;
  question_.context = 0x2000;
  EXPECT_EQ(gate_refusal(question_), Refusal::other_context);
  question_.context = 0x1000;
  collective_.launched = false;
  EXPECT_EQ(gate_refusal(question_), Refusal::no_event);
  collective_.launched = true;
  collective_.has_begin = false;
  EXPECT_EQ(gate_refusal(question_), Refusal::no_event);
}

// Of one block on each SM all begin at once, whatever each takes.
TEST_F(Gate, RefusesACollectiveWhoseBlocksMayNotAllBeginAtOnce) {
  collective_.blocks = 132;
  EXPECT_EQ(gate_refusal(question_), Refusal::none);
  collective_.blocks = 133;
  EXPECT_EQ(gate_refusal(question_), Refusal::several_waves);
  collective_.blocks = kUnknownBlocks;
  EXPECT_EQ(gate_refusal(question_), Refusal::several_waves) << "those of a graph";
  collective_.blocks = 24;
  collective_.sms = 0;
  EXPECT_EQ(gate_refusal(question_), Refusal::several_waves) << "how many SMs there are is unknown";
}

}  // namespace
}  // namespace elbowroom::interposer
