// Controls that rules give for single kernels and products.
#include <gtest/gtest.h>

#include <string>

#include "fake_platform.hpp"

namespace elbowroom::interposer {
namespace {

TEST(CoreRules, ShapesInsideWindowsAlone) {
  Rules rules = rules_of(Policy::shape);
  ASSERT_EQ(parse_rules("cap nvjet 2\n", rules), 0U);
  Program program(rules);
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).untouched(0));
  program.launch(kAllReduce, kCommStream);
  const Decision shaped = program.launch(kGemm, kComputeStream);
  // 233,472 / 3 = 77,824, and one granule of 128, less 1,024 reserved and 1,024 static: 75,904.
  EXPECT_EQ(shaped.dynamic_shared, 75'904U);
  EXPECT_EQ(shaped.wait_on, kNoEvent);
  program.order(kCommStream, kComputeStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).dynamic_shared, 0U);
}

Rules with(Rules rules, const std::string& text) {
  EXPECT_EQ(parse_rules(text, rules), 0U);
  return rules;
}

// Generated kernels keep their name and may take the same of an SM.
TEST(CoreRules, DoesNotPadAKernelThatWasCompiledAnewForClusters) {
  Program program(with(rules_of(Policy::shape), "cap nvjet 2\n"));
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).dynamic_shared, 75'904U);
  program.core->on_module_unload();
  program.fake.required_cluster = 2;
  EXPECT_EQ(program.launch(kGemm, kComputeStream).refusal, Refusal::cluster_launch);
}

TEST(CoreRules, ShapesByFootprintWhatNoNameIsFor) {
  // The platform's kernels have 64 registers and 1,024 bytes of their own; launches have 512 threads.
  const Rules rules = with(rules_of(Policy::shape), "footprint 512x64 1024+0 1 cap 2\nfootprint 512x64 1024+128 1 cap 3\n");
  Program program(rules);
  EXPECT_TRUE(program.launch(kGemm, kComputeStream).untouched(0));
  EXPECT_EQ(program.launch(kAllReduce, kCommStream).dynamic_shared, 0U) << "it takes the same of an SM";
  EXPECT_EQ(program.launch(kGemm, kComputeStream).dynamic_shared, 75'904U) << "as with a cap of 2 by name";
  LaunchFacts other = program.facts(kGemm, kComputeStream);
  other.dynamic_shared = 256;
  EXPECT_EQ(program.core->on_launch(other).dynamic_shared, 256U) << "no rule is for that much";
  other.dynamic_shared = 0;
  other.block = {256, 1, 1};
  EXPECT_EQ(program.core->on_launch(other).dynamic_shared, 0U) << "nor for that block";

  Program named(with(rules, "cap nvjet 3\n"));
  named.launch(kAllReduce, kCommStream);
  // 233,472 / 4 = 58,368, and one granule of 128, less 1,024 reserved and 1,024 static: 56,448.
  EXPECT_EQ(named.launch(kGemm, kComputeStream).dynamic_shared, 56'448U);
}

TEST(CoreRules, KeepsRulesForOtherDevicesAway) {
  const std::string text =
      "device h100\nfootprint 512x64 1024+0 1 cap 1\nproduct bf16 2^40 sm_target 96\n"
      "device h200\nfootprint 512x64 1024+0 1 cap 2\nproduct bf16 2^40 sm_target 108\n";
  Program program(with(rules_of(Policy::shape), text));
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).dynamic_shared, 75'904U);
  const Product product{ProductType::bf16, 40};
  EXPECT_EQ(program.core->on_library_gemm(kComputeStream, product, program.now_ns).sms, 108U);
  EXPECT_EQ(program.core->on_library_gemm(kComputeStream, {ProductType::bf16, 37}, program.now_ns).sms, 0U);

  Program elsewhere(with(rules_of(Policy::shape), text));
  elsewhere.fake.device.name = {"NVIDIA B200"};
  elsewhere.launch(kAllReduce, kCommStream);
  EXPECT_EQ(elsewhere.launch(kGemm, kComputeStream).dynamic_shared, 0U);
  EXPECT_EQ(elsewhere.core->on_library_gemm(kComputeStream, product, elsewhere.now_ns).sms, 0U);
}

TEST(CoreRules, TellCompilationsOfOneNameApart) {
  Program program(with(rules_of(Policy::shape), "footprint 512x64 1024+0 1 cap 2\n"));
  constexpr FunctionId other = 77;
  program.fake.names[other] = program.fake.names[kGemm];
  program.fake.registers[other] = 32;
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.launch(kGemm, kComputeStream).dynamic_shared, 75'904U);
  LaunchFacts facts = program.facts(kGemm, kComputeStream);
  facts.function = other;
  EXPECT_EQ(program.core->on_launch(facts).dynamic_shared, 0U) << "32 registers";
}

TEST(CoreRules, SetNoTargetThatTheDeviceDoesNotHave) {
  Rules rules = rules_of(Policy::gate);
  rules.sm_target = 132;
  Program program(rules);
  program.launch(kAllReduce, kCommStream);
  EXPECT_EQ(program.core->on_library_gemm(kComputeStream, {}, program.now_ns).sms, 0U) << "all of its 132 SMs";
}

LaunchFacts collective_of(const Program& program, std::uint32_t ranks) {
  LaunchFacts facts = program.facts(kAllReduce, kCommStream);
  facts.note = {4'096, ranks};
  return facts;
}

// Of one rank alone. Where nobody told how many there are, there may be several.
TEST(CoreRules, SetsTheSmTargetInsideWindowsAlone) {
  Rules rules = rules_of(Policy::gate);
  rules.sm_target = 108;
  Program program(rules);
  EXPECT_EQ(program.core->on_library_gemm(kComputeStream, {}, program.now_ns).sms, 0U);
  program.launch(collective_of(program, 1));
  EXPECT_EQ(program.core->on_library_gemm(kComputeStream, {}, program.now_ns).sms, 108U);
  program.order(kCommStream, kComputeStream);
  EXPECT_EQ(program.core->on_library_gemm(kComputeStream, {}, program.now_ns).sms, 0U);
}

// What is beside a product each rank sees for itself: where there are several, all products of the kind get the target.
TEST(CoreRules, SetsTheSmTargetForEveryProductOfSeveralRanks) {
  for (const std::uint32_t ranks : {0U, 1U, 2U}) {
    Rules rules = rules_of(Policy::gate);
    rules.sm_target = 108;
    Program program(rules);
    program.launch(kGemm, kComputeStream);
    program.launch(collective_of(program, ranks));
    program.order(kCommStream, kComputeStream);
    EXPECT_EQ(program.core->on_library_gemm(kComputeStream, {}, program.now_ns).sms, ranks == 1 ? 0U : 108U);
  }
}

// A peer may have communicated already, with a third one.
TEST(CoreRules, SetsTheSmTargetBeforeTheFirstCollectiveOfSeveralRanks) {
  for (const bool several : {false, true}) {
    Rules rules = rules_of(Policy::gate);
    rules.sm_target = 108;
    RankAgreement ranks;
    ranks.several = several ? [] { return true; } : [] { return false; };
    Program program(rules, ranks);
    EXPECT_EQ(program.core->on_library_gemm(kComputeStream, {}, program.now_ns).sms, several ? 108U : 0U);
  }
}

// And where each rank compares for itself, none gets one.
TEST(CoreRules, SetsNoSmTargetWhereSeveralRanksCompare) {
  for (const std::uint32_t ranks : {1U, 2U}) {
    Rules rules = rules_of(Policy::automatic);
    rules.sm_target = 108;
    Program program(rules);
    int targets = 0;
    for (int i = 0; i < 10 * 100; ++i) {
      program.launch(collective_of(program, ranks));
      targets += program.core->on_library_gemm(kComputeStream, {}, program.now_ns).sms != 0 ? 1 : 0;
      program.launch(kGemm, kComputeStream);
      program.now_ns += 1'000'000;
    }
    EXPECT_EQ(targets > 0, ranks == 1) << targets;
    const bool said = program.report().find("under auto each rank would choose by itself") != std::string::npos;
    EXPECT_EQ(said, ranks == 2);
  }
}

}  // namespace
}  // namespace elbowroom::interposer
