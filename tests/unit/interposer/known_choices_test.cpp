#include "interposer/core/known_choices.hpp"

#include <gtest/gtest.h>

#include <string>

namespace elbowroom::interposer {
namespace {

constexpr const char* kText =
    "device NVIDIA H100\n"
    "00000000000000a1 22809 priority\n"
    "device NVIDIA H200\n"
    "00000000000000a1 22809 priority, gate\n"
    "00000000000000a1 0 plain\n"
    "00000000000000a2 22809 priority, gate, sm_target\n";

Rules automatic() {
  Rules rules;
  rules.policy = Policy::automatic;
  return rules;
}

// The arms of auto without rules for kernels: 0 plain, 1 priority, 2 and the gate.
TEST(KnownChoices, AreFoundByDeviceLibraryAndSequence) {
  EXPECT_EQ(known_arm(kText, {"NVIDIA H100", 22'809, 0xa1}, automatic()), 1U);
  EXPECT_EQ(known_arm(kText, {"NVIDIA H200", 22'809, 0xa1}, automatic()), 2U);
  EXPECT_EQ(known_arm(kText, {"NVIDIA H200", 0, 0xa1}, automatic()), 0U);
  EXPECT_EQ(known_arm(kText, {"NVIDIA H200", 22'703, 0xa1}, automatic()), std::nullopt);
  EXPECT_EQ(known_arm(kText, {"NVIDIA H200", 22'809, 0xa3}, automatic()), std::nullopt);
  EXPECT_EQ(known_arm(kText, {"NVIDIA H20", 22'809, 0xa1}, automatic()), std::nullopt);
  EXPECT_EQ(known_arm("", {"NVIDIA H200", 22'809, 0xa1}, automatic()), std::nullopt);
}

TEST(KnownChoices, AreThoseThatTheRulesHave) {
  EXPECT_EQ(known_arm(kText, {"NVIDIA H200", 22'809, 0xa2}, automatic()), std::nullopt) << "no rule gives a target";
  Rules with_target = automatic();
  ASSERT_TRUE(with_target.set_sm_target(108));
  EXPECT_EQ(known_arm(kText, {"NVIDIA H200", 22'809, 0xa2}, with_target), 3U);
  EXPECT_EQ(known_arm(kText, {"NVIDIA H200", 22'809, 0xa1}, with_target), 2U);
  Rules gateless = automatic();
  ASSERT_TRUE(gateless.leave_out("gate"));
  EXPECT_EQ(known_arm(kText, {"NVIDIA H200", 22'809, 0xa1}, gateless), std::nullopt);
  EXPECT_EQ(known_arm(kText, {"NVIDIA H100", 22'809, 0xa1}, gateless), 1U);
}

TEST(KnownChoices, OfADeviceWithoutANameAreNone) {
  EXPECT_EQ(known_arm("00000000000000a1 22809 priority\n", {"", 22'809, 0xa1}, automatic()), std::nullopt);
}

TEST(KnownChoices, EndAtTheFirstLineThatIsNone) {
  const std::string text = std::string(kText) + "nonsense\ndevice NVIDIA H200\n00000000000000a1 22809 plain\n";
  EXPECT_EQ(known_arm(text, {"NVIDIA H200", 22'809, 0xa1}, automatic()), 2U);
}

}  // namespace
}  // namespace elbowroom::interposer
