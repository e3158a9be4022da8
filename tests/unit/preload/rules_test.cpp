#include "preload/rules.hpp"

#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

TEST(PreloadRules, SayWhatIsAskedAndWhatAProfileHasOfEachDevice) {
  Controls controls;
  controls.communication = {"ring"};
  controls.caps = {{"gelu", BlocksPerSm(4)}};
  controls.sm_target = Sms(108);
  controls.off = {"gate", "shape"};
  controls.footprint_caps = {{"h200", {Threads(256), Registers(32), Bytes(0), Bytes(0), 1}, BlocksPerSm(5)}};
  controls.product_targets = {{"a100", {DataType::bf16, 40}, Sms(90)}, {"h200", {DataType::f32, 41}, Sms(104)}};
  const Result<run::Rules> rules = rules_of(controls);
  ASSERT_TRUE(rules) << rules.error().message;
  run::Rules expected;
  ASSERT_EQ(run::parse_rules("communication ring\ncap gelu 4\nsm_target 108\ngate off\n"
                             "device a100\nproduct bf16 2^40 sm_target 90\n"
                             "device h200\nfootprint 256x32 0+0 1 cap 5\nproduct f32 2^41 sm_target 104\n",
                             expected),
            0U);
  EXPECT_EQ(*rules, expected) << run::rules_text(*rules);
}

TEST(PreloadRules, OfNothingAreNone) {
  const Result<run::Rules> rules = rules_of({});
  ASSERT_TRUE(rules);
  EXPECT_EQ(*rules, run::Rules());
}

TEST(PreloadRules, NameWhatTheyCannotSay) {
  Controls controls;
  controls.sm_target = Sms(1025);
  EXPECT_EQ(rules_of(controls).error().message, "--sm-target: 1025, expected 1 to 1024 SMs");
  controls.sm_target.reset();
  controls.footprint_caps = {{"h200", {Threads(256), Registers(32), Bytes(8), Bytes(16), 1}, BlocksPerSm(33)}};
  EXPECT_EQ(rules_of(controls).error().message,
            "profile: 33 blocks per SM for kernels of 256x32 8+16 on h200, expected 1 to 32 for at most 32 kernels");
  controls.footprint_caps.clear();
  controls.product_targets = {{"h200", {DataType::bf16, 40}, Sms(2000)}};
  EXPECT_EQ(rules_of(controls).error().message,
            "profile: 2000 SMs for bf16 GEMMs of 2^40 flop on h200, expected 1 to 1024 for at most 32 kinds of GEMM");
  controls.product_targets.front().device = "no word";
  EXPECT_EQ(rules_of(controls).error().message,
            "profile: choices on 'no word', expected at most 8 devices, each a word of at most 15 letters and digits");
}

}  // namespace
}  // namespace elbowroom::preload
