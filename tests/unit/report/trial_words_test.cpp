#include "elbowroom/report/trial_words.hpp"

#include <gtest/gtest.h>

namespace elbowroom {
namespace {

TEST(TrialWords, StateKeepsTheWordOfANewerProcess) {
  for (const TrialState::Known known : {TrialState::off, TrialState::waiting, TrialState::trying, TrialState::settled}) {
    EXPECT_EQ(TrialState(TrialState(known).text()), known);
  }
  EXPECT_EQ(TrialState("settled"), TrialState::settled);
  const TrialState newer("resting");
  EXPECT_EQ(newer.text(), "resting");
  EXPECT_NE(newer, TrialState::off);
}

TEST(TrialWords, DeciderIsReadAndAnUnknownOneTellsNobody) {
  EXPECT_EQ(parse_decider("each process"), Decider::each_process);
  EXPECT_EQ(parse_decider("this process"), Decider::this_process);
  EXPECT_EQ(parse_decider("another process"), Decider::another_process);
  for (const char* const word : {"not known", "", "a vote"}) { EXPECT_EQ(parse_decider(word), Decider::not_known) << word; }
}

TEST(TrialWords, ArmTellsItsControlsApart) {
  const ArmControls gated("priority, gate");
  EXPECT_EQ(gated.text(), "priority, gate");
  EXPECT_TRUE(gated.has(ArmControls::priority));
  EXPECT_TRUE(gated.has(ArmControls::gate));
  EXPECT_FALSE(gated.has(ArmControls::shape));
  EXPECT_FALSE(gated.has(ArmControls::sm_target));
  EXPECT_FALSE(gated.plain());
  EXPECT_TRUE(ArmControls("shape, sm_target").has(ArmControls::sm_target));
  EXPECT_TRUE(ArmControls("plain").plain());
  EXPECT_FALSE(ArmControls("plain").has(ArmControls::priority));
  const ArmControls newer("priority, clocks");
  EXPECT_EQ(newer.text(), "priority, clocks");
  EXPECT_TRUE(newer.has(ArmControls::priority)) << "beside a word that is not known";
}

}  // namespace
}  // namespace elbowroom
