#include "run/rules.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace elbowroom::run {
namespace {

std::size_t parse(const std::string& text, Rules& rules) { return parse_rules(text, rules); }

TEST(Rules, ReadEveryRule) {
  Rules rules;
  EXPECT_EQ(parse("# of a profile\n\ncap gelu kernel<4> 3\r\ncap * 5\n sm_target 108\ngate off\npriority off\nab off", rules), 0U);
  ASSERT_EQ(rules.cap_count, 2U);
  EXPECT_STREQ(rules.caps[0].name.data(), "gelu kernel<4>");
  EXPECT_EQ(rules.caps[0].blocks_per_sm, 3U);
  EXPECT_STREQ(rules.caps[1].name.data(), "*");
  EXPECT_EQ(rules.sm_target, 108U);
  EXPECT_FALSE(rules.gate || rules.priority || rules.trial);
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
                            "cap gelu 33",
                            "cap gelu three",
                            "cap gelu -1",
                            "sm_target",
                            "sm_target 0",
                            "sm_target 1025",
                            "gate on",
                            "gate",
                            "speed up",
                            "sm_target 99999999999",
                            "footprint",
                            "footprint 256x32 0+0 1 cap 0",
                            "footprint 256x32 0+0 1 cap 33",
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
                            "product bf16 2^0 sm_target 108",
                            "product bf16 2^40 sm_target 0",
                            "product bf16 2^40 sm_target 1025",
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
  for (int i = 0; i < 32; ++i) { text += "footprint 32x" + std::to_string(i) + " 0+0 1 cap 2\nproduct f32 2^9 sm_target 1\n"; }
  for (int i = 0; i < 8; ++i) { text += "device d" + std::to_string(i) + "\n"; }
  EXPECT_EQ(parse(text, rules), 0U);
  EXPECT_EQ(rules.names_of("d7"), kEveryDevice | 256U);
  EXPECT_EQ(parse("footprint 32x99 0+0 1 cap 2", rules), 1U);
  EXPECT_EQ(parse("product f32 2^9 sm_target 1", rules), 1U);
  EXPECT_EQ(parse("device d8", rules), 1U);
}

TEST(Rules, AreWrittenAsTheyAreRead) {
  Rules rules;
  EXPECT_EQ(rules_text(rules), "");
  ASSERT_TRUE(rules.add_communication("my exchange") && rules.add_cap("gelu kernel<4>", 3) && rules.set_sm_target(108) &&
              rules.leave_out("ab"));
  ASSERT_TRUE(rules.add_footprint({.threads = 256,
                                   .registers = 32,
                                   .static_shared = 0,
                                   .dynamic_shared = 1024,
                                   .cluster = 1,
                                   .blocks_per_sm = 4,
                                   .on = kAnyName}));
  ASSERT_TRUE(rules.add_device("h200") && rules.add_product({{ProductType::bf16, 40}, 92, 0}));
  EXPECT_EQ(rules_text(rules),
            "communication my exchange\ncap gelu kernel<4> 3\nsm_target 108\nab off\nfootprint 256x32 0+1024 1 cap 4\ndevice h200\n"
            "product bf16 2^40 sm_target 92\n");
}

TEST(Rules, TakeNothingThatTheirTextCannotSay) {
  Rules rules;
  for (const std::string_view name : {"", " gelu", "gelu ", "ge\nlu"}) {
    EXPECT_FALSE(rules.add_cap(name, 2) || rules.add_communication(name)) << name;
  }
  const std::string_view zero("ge\0lu", 5);
  EXPECT_FALSE(rules.add_cap(zero, 2) || rules.add_communication(zero)) << "a zero byte";
  EXPECT_FALSE(rules.add_cap("gelu", 0) || rules.add_cap("gelu", kGreatestResidency + 1));
  EXPECT_FALSE(rules.add_product({{ProductType::other, 40}, 92, 0}) || rules.add_product({{ProductType::f32, 0}, 92, 0}));
  EXPECT_FALSE(rules.set_sm_target(0) || rules.leave_out("shape"));
  EXPECT_EQ(rules, Rules());
}

TEST(Rules, NameKernelsThatCommunicate) {
  Rules rules;
  ASSERT_EQ(parse_rules("communication my_exchange\n communication  second one ", rules), 0U);
  EXPECT_TRUE(rules.is_communication("_ZN4mine11my_exchangeE") && rules.is_communication("the second one"));
  EXPECT_FALSE(rules.is_communication("my_gemm") || rules.is_communication("second"));
  EXPECT_EQ(parse_rules("communication", rules), 1U);
  EXPECT_EQ(parse_rules("communication " + std::string(kLongestKernelName + 1, 'k'), rules), 1U);
  std::string text;
  for (std::size_t i = 0; i <= kMostCommunication; ++i) { text += "communication k" + std::to_string(i) + "\n"; }
  Rules full;
  EXPECT_EQ(parse_rules(text, full), kMostCommunication + 1) << "one more than fits";
}

std::uint32_t any_number() { return *rc::gen::arbitrary<std::uint32_t>(); }
std::uint32_t any_residency() { return *rc::gen::inRange<std::uint32_t>(1, kGreatestResidency + 1); }

std::string any_word(const char* letters, std::size_t longest) {
  const auto size = *rc::gen::inRange<std::size_t>(1, longest + 1);
  return *rc::gen::container<std::string>(size, rc::gen::elementOf(std::string(letters)));
}

void add_anything(Rules& rules) {
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      // Also what is refused: blanks at an end.
      rules.add_cap(any_word("ag<>*# \t:", kLongestKernelName + 1), any_residency());
      break;
    case 6:
      rules.add_communication(any_word("ag<>*# \t:", kLongestKernelName + 1));
      break;
    case 1:
      rules.add_device(any_word("hH20s", kLongestDeviceWord + 1));
      break;
    case 2:
      rules.add_footprint({any_number(), any_number(), any_number(), any_number(), any_number(), any_residency(), any_number()});
      break;
    case 3: {
      const auto type = *rc::gen::element(ProductType::f32, ProductType::bf16);
      rules.add_product({{type, *rc::gen::inRange<std::uint8_t>(1, 128)}, any_number(), any_number()});
      break;
    }
    case 4:
      rules.set_sm_target(any_number());
      break;
    default:
      rules.leave_out((*rc::gen::elementOf(std::vector<Part>(kParts.begin(), kParts.end()))).word);
  }
}

RC_GTEST_PROP(Rules, AreTheSameAfterTheirText, ()) {
  Rules rules;
  for (int i = *rc::gen::inRange(0, 200); i > 0; --i) { add_anything(rules); }
  Rules read;
  RC_ASSERT(parse_rules(rules_text(rules), read) == 0U);
  RC_ASSERT(read == rules);
}

}  // namespace
}  // namespace elbowroom::run
