#include "interposer/core/rules.hpp"

#include <gtest/gtest.h>

#include <string>

namespace elbowroom::interposer {
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

TEST(Rules, ReadWhatCommunicatorsAreMadeWith) {
  Rules rules;
  EXPECT_FALSE(rules.sets_communicators());
  EXPECT_EQ(parse("symmetric_blocks 16\nsymmetric_copies on\nbudget 8", rules), 0U);
  EXPECT_EQ(rules.symmetric_blocks, 16U);
  EXPECT_TRUE(rules.symmetric_copies && rules.sets_communicators());
  ASSERT_EQ(rules.budgets.count, 1U);
  EXPECT_EQ(rules.budgets.blocks[0], 8U);
  EXPECT_EQ(rules.budgets.every, 0U);
  EXPECT_EQ(parse("budget 0 8 16 every 32", rules), 0U);
  ASSERT_EQ(rules.budgets.count, 3U);
  EXPECT_EQ(rules.budgets.blocks[2], 16U);
  EXPECT_EQ(rules.budgets.every, 32U);
  for (const char* wrong :
       {"budget", "budget 65", "budget 8 16", "budget 8 every", "budget 8 every 0", "budget every 8", "budget 8 every 2",
        "budget 1 2 3 4 5 6 7 8 9 every 2", "budget 8 16 every 2 3", "symmetric_blocks 0", "symmetric_copies 1"}) {
    EXPECT_EQ(parse(wrong, rules), 1U) << wrong;
  }
  EXPECT_EQ(rules.budgets.count, 3U) << "what is wrong leaves what was right";
}

TEST(Rules, ReadWhatIsForSingleKernels) {
  Rules rules;
  EXPECT_EQ(parse("footprint 256x32 0+1024 1 cap 4\ndevice h200\nproduct bf16 2^40 sm_target 108\nfootprint 512x64 16+0 2 cap 1\n"
                  "device a100\nproduct f32 2^37 sm_target 92",
                  rules),
            0U);
  ASSERT_EQ(rules.footprint_count, 2U);
  const FootprintRule& first = rules.footprints[0];
  EXPECT_EQ(first.threads, 256U);
  EXPECT_EQ(first.registers, 32U);
  EXPECT_EQ(first.static_shared, 0U);
  EXPECT_EQ(first.dynamic_shared, 1024U);
  EXPECT_EQ(first.cluster, 1U);
  EXPECT_EQ(first.blocks_per_sm, 4U);
  EXPECT_EQ(first.on, kEveryDevice);
  EXPECT_EQ(rules.footprints[1].cluster, 2U);
  EXPECT_TRUE(rules.has_caps() && rules.has_targets());

  const DeviceNames h200 = rules.names_of("NVIDIA H200");
  EXPECT_EQ(h200, kEveryDevice | 2U);
  EXPECT_EQ(rules.names_of("NVIDIA A100-SXM4-80GB"), kEveryDevice | 4U);
  EXPECT_EQ(rules.names_of("NVIDIA GH200 480GB"), kEveryDevice) << "a word that only holds the name";
  EXPECT_EQ(rules.footprints[1].on & h200, 2U);
  EXPECT_EQ(rules.target_of({ProductType::bf16, 40}, h200), 108U);
  EXPECT_EQ(rules.target_of({ProductType::bf16, 39}, h200), 0U);
  EXPECT_EQ(rules.target_of({ProductType::f32, 40}, h200), 0U);
  EXPECT_EQ(rules.target_of({ProductType::f32, 37}, h200), 0U) << "a rule for another device";
  EXPECT_EQ(rules.target_of({ProductType::f32, 37}, kAnyName), 92U);
  rules.sm_target = 100;
  EXPECT_EQ(rules.target_of({}, kEveryDevice), 100U) << "one for all products comes first";
}

TEST(Rules, NameTheFirstLineThatIsNone) {
  for (const char* wrong : {"cap 3",
                            "cap gelu 0",
                            "cap gelu three",
                            "cap gelu -1",
                            "sm_target",
                            "sm_target 0",
                            "gate on",
                            "gate",
                            "speed up",
                            "sm_target 99999999999",
                            "footprint",
                            "footprint 256x32 0+0 1 cap 0",
                            "footprint 256x32 0+0 cap 4",
                            "footprint 256x 0+0 1 cap 4",
                            "footprint 256x32 0-0 1 cap 4",
                            "footprint 256x32 0+0 1 cap 4 5",
                            "footprint 256x32 0+0 0 cap 4",
                            "footprint 256x99999999999 0+0 1 cap 4",
                            "product bf16 2^40 108",
                            "product f16 2^40 sm_target 108",
                            "product bf16 40 sm_target 108",
                            "product bf16 2^128 sm_target 108",
                            "product bf16 2^40 sm_target 0",
                            "product bf16 2^40 sm_target 1 2",
                            "device",
                            "device two words",
                            "device sm_90",
                            "device abcdefghijklmnop"}) {
    Rules rules;
    EXPECT_EQ(parse("gate off\n" + std::string(wrong) + "\npriority off\n", rules), 2U) << wrong;
    EXPECT_FALSE(rules.gate);
    EXPECT_TRUE(rules.priority) << "read beyond the wrong line";
    EXPECT_EQ(rules.cap_count + rules.footprint_count + rules.product_count + rules.device_count, 0U);
  }
}

TEST(Rules, KnowAProductByItsFlop) {
  // 2 x 8192^3 = 2^40, and 2 x 4096^3 = 2^37; a little less is the class below.
  EXPECT_EQ(product_of(ProductType::bf16, 8192, 8192, 8192, 1).flop_class, 40U);
  EXPECT_EQ(product_of(ProductType::bf16, 8192, 8192, 8191, 1).flop_class, 39U);
  EXPECT_EQ(product_of(ProductType::f32, 4096, 4096, 4096, 1).flop_class, 37U);
  EXPECT_EQ(product_of(ProductType::f32, 4096, 4096, 4096, 8).flop_class, 40U);
  EXPECT_EQ(product_of(ProductType::f32, 1, 1, 1, 1).flop_class, 1U);
  EXPECT_EQ(product_of(ProductType::f32, 2147483647, 2147483647, 2147483647, 2147483647).flop_class, 124U);
  for (const std::int64_t none : {0, -1}) EXPECT_EQ(product_of(ProductType::f32, none, 8, 8, 8).flop_class, 0U);
}

TEST(Rules, HaveRoomForSixtyFourCaps) {
  Rules rules;
  std::string text;
  for (int i = 0; i < 65; ++i) { text += "cap k" + std::to_string(i) + " 2\n"; }
  EXPECT_EQ(parse(text, rules), 65U);
  EXPECT_EQ(rules.cap_count, 64U);
  EXPECT_EQ(parse("cap " + std::string(128, 'k') + " 2", rules), 1U);
}

TEST(Rules, HaveRoomForWhatAProfileSays) {
  Rules rules;
  std::string text;
  for (int i = 0; i < 32; ++i) text += "footprint 32x" + std::to_string(i) + " 0+0 1 cap 2\nproduct f32 2^9 sm_target 1\n";
  for (int i = 0; i < 8; ++i) text += "device d" + std::to_string(i) + "\n";
  EXPECT_EQ(parse(text, rules), 0U);
  EXPECT_EQ(rules.names_of("d7"), kEveryDevice | 256U);
  EXPECT_EQ(parse("footprint 32x99 0+0 1 cap 2", rules), 1U);
  EXPECT_EQ(parse("product f32 2^9 sm_target 1", rules), 1U);
  EXPECT_EQ(parse("device d8", rules), 1U);
}

}  // namespace
}  // namespace elbowroom::interposer
