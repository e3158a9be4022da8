#include "preload/core/rules.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom::preload {
namespace {

std::size_t parse(const std::string& text, Rules& rules) { return parse_rules(text.data(), text.size(), rules); }

TEST(Rules, KnowTheFivePolicies) {
  for (const Policy policy : {Policy::observe, Policy::priority, Policy::gate, Policy::shape, Policy::automatic}) {
    Policy parsed = policy == Policy::observe ? Policy::gate : Policy::observe;
    EXPECT_TRUE(parse_policy(text(policy), parsed));
    EXPECT_EQ(parsed, policy);
  }
  Policy unchanged = Policy::shape;
  EXPECT_FALSE(parse_policy("automatic", unchanged));
  EXPECT_EQ(unchanged, Policy::shape);
}

TEST(Rules, ReadEveryRule) {
  Rules rules;
  EXPECT_EQ(
      parse("# of a profile\n\ncap gelu kernel<4> 3\r\ncap * 5\n sm_target 108\ngate off\npriority off\ntiming off\nab off", rules),
      0U);
  ASSERT_EQ(rules.cap_count, 2U);
  EXPECT_STREQ(rules.caps[0].name.data(), "gelu kernel<4>");
  EXPECT_EQ(rules.caps[0].blocks_per_sm, 3U);
  EXPECT_STREQ(rules.caps[1].name.data(), "*");
  EXPECT_EQ(rules.sm_target, 108U);
  EXPECT_FALSE(rules.gate || rules.priority || rules.timing || rules.trial);
}

TEST(Rules, NameTheFirstLineThatIsNone) {
  for (const char* wrong : {"cap 3", "cap gelu 0", "cap gelu three", "cap gelu -1", "sm_target", "sm_target 0", "gate on", "gate",
                            "speed up", "sm_target 99999999999"}) {
    Rules rules;
    EXPECT_EQ(parse("gate off\n" + std::string(wrong) + "\npriority off\n", rules), 2U) << wrong;
    EXPECT_FALSE(rules.gate);
    EXPECT_TRUE(rules.priority) << "read beyond the wrong line";
    EXPECT_EQ(rules.cap_count, 0U);
  }
}

TEST(Rules, HaveRoomForSixtyFourCaps) {
  Rules rules;
  std::string text;
  for (int i = 0; i < 65; ++i) { text += "cap k" + std::to_string(i) + " 2\n"; }
  EXPECT_EQ(parse(text, rules), 65U);
  EXPECT_EQ(rules.cap_count, 64U);
  EXPECT_EQ(parse("cap " + std::string(128, 'k') + " 2", rules), 1U);
}

}  // namespace
}  // namespace headroom::preload
