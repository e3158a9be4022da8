#include "interposer/core/communicator_settings.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

constexpr CommunicatorSettingSet kBlocks = kMinBlocks | kMaxBlocks;

CommunicatorFacts open_facts() {
  CommunicatorFacts facts;
  facts.ranks = 2;
  facts.known_to_library = facts.in_configuration = kBlocks | kCtaPolicy;
  return facts;
}

Rules symmetric_rules(std::uint32_t blocks, bool copies) {
  Rules rules;
  rules.symmetric_blocks = blocks;
  rules.symmetric_copies = copies;
  return rules;
}

TEST(CommunicatorSettings, AMinimumNeverComesWithoutAMaximum) {
  const CommunicatorSettings settings = settings_for(symmetric_rules(16, false), open_facts());
  EXPECT_EQ(settings.fields, kBlocks);
  EXPECT_EQ(settings.min_blocks, 16);
  EXPECT_EQ(settings.max_blocks, 64);
  EXPECT_EQ(settings.refusal, SettingsRefusal::none);
}

TEST(CommunicatorSettings, AreNoneWithoutARule) {
  const CommunicatorSettings settings = settings_for(Rules(), open_facts());
  EXPECT_EQ(settings.fields, 0);
  EXPECT_EQ(settings.refusal, SettingsRefusal::nothing_asked);
}

TEST(CommunicatorSettings, OneRefusedRuleLeavesTheOther) {
  CommunicatorFacts facts = open_facts();
  facts.set_by_program = kMaxBlocks;
  CommunicatorSettings settings = settings_for(symmetric_rules(16, true), facts);
  EXPECT_EQ(settings.fields, kCtaPolicy);
  EXPECT_EQ(settings.cta_policy, 2);
  EXPECT_EQ(settings.refusal, SettingsRefusal::own_configuration);

  facts = open_facts();
  facts.own_policy = true;
  settings = settings_for(symmetric_rules(16, true), facts);
  EXPECT_EQ(settings.fields, kBlocks);
  EXPECT_EQ(settings.refusal, SettingsRefusal::own_environment);
}

TEST(CommunicatorSettings, EveryReasonHasItsPlace) {
  const auto refusal = [](auto change) {
    CommunicatorFacts facts = open_facts();
    change(facts);
    return settings_for(symmetric_rules(16, false), facts).refusal;
  };
  EXPECT_EQ(refusal([](CommunicatorFacts& facts) { facts.ranks = 1; }), SettingsRefusal::one_rank);
  EXPECT_EQ(refusal([](CommunicatorFacts& facts) { facts.own_blocks = true; }), SettingsRefusal::own_environment);
  EXPECT_EQ(refusal([](CommunicatorFacts& facts) { facts.known_to_library = 0; }), SettingsRefusal::old_library);
  EXPECT_EQ(refusal([](CommunicatorFacts& facts) { facts.in_configuration = kMinBlocks; }), SettingsRefusal::old_configuration);
  EXPECT_EQ(refusal([](CommunicatorFacts& facts) { facts.set_by_program = kMinBlocks; }), SettingsRefusal::own_configuration);
}

}  // namespace
}  // namespace elbowroom::interposer
