#include "preload/given.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "preload/offer.hpp"
#include "unit/tune/choices.hpp"

namespace elbowroom::preload {
namespace {

using elbowroom::testing::choice;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A choice of 8 blocks for collectives and of 5 blocks per SM for one kernel.
Offer offer_of_blocks() {
  StoredChoice made = choice(29);
  made.plan.blocks_per_sm = BlocksPerSm(5);
  Offer offer{{}, "p.json"};
  offer.profile.put(made);
  return offer;
}

Here here_with(Variables environment) {
  environment.emplace_back("HOME", "/root");
  return {std::move(environment), "580.65", "/hook"};
}

/// What is given, and what was said on the way.
struct Outcome {
  Result<Given> given;
  std::vector<std::string> notices;
};

Outcome outcome(const Asked& asked, const Offer& offer = {}, const Here& here = here_with({})) {
  std::vector<std::string> notices;
  Result<Given> given = give(asked, offer, here, [&](std::string_view line) { notices.emplace_back(line); });
  return {std::move(given), std::move(notices)};
}

std::string refusal(const Asked& asked, const Here& here = here_with({})) {
  const Result<Given> given = outcome(asked, {}, here).given;
  return given ? "" : given.error().message;
}

TEST(Given, ByAutoIsWhatTheProfileHasAndItsMemory) {
  const Outcome plain = outcome({}, offer_of_blocks());
  ASSERT_TRUE(plain.given) << plain.given.error().message;
  EXPECT_THAT(plain.given->controls.comm_library, ElementsAre(Pair("NCCL_MIN_CTAS", "8"), Pair("NCCL_MAX_CTAS", "8")));
  EXPECT_EQ(plain.given->rules.footprint_count, 1U);
  EXPECT_EQ(plain.given->hook, "/hook");
  EXPECT_EQ(plain.given->memory, "/root/.cache/elbowroom/choices.json");
  EXPECT_EQ(plain.given->surroundings.driver, "580.65");
  EXPECT_THAT(plain.given->surroundings.options, HasSubstr("NCCL_CTA_POLICY=2")) << "gathers go into the hook's buffers";
  EXPECT_THAT(plain.notices, IsEmpty());
}

TEST(Given, ByObserveIsNothing) {
  const Outcome nothing = outcome({.policy = run::Policy::observe}, offer_of_blocks(), here_with({{"NCCL_ALGO", "Ring"}}));
  ASSERT_TRUE(nothing.given);
  EXPECT_THAT(nothing.given->controls.comm_library, IsEmpty());
  EXPECT_EQ(nothing.given->rules, run::Rules());
  EXPECT_EQ(nothing.given->hook, std::nullopt);
  EXPECT_EQ(nothing.given->memory, std::nullopt);
  EXPECT_EQ(nothing.given->same_bits, std::nullopt) << "no bit changes";
}

TEST(Given, ToAPolicyThatShapesNothingIsNoCap) {
  EXPECT_EQ(outcome({.policy = run::Policy::gate}, offer_of_blocks()).given->rules.footprint_count, 0U);
  Asked unshaped;
  unshaped.controls.off = {"shape"};
  EXPECT_EQ(outcome(unshaped, offer_of_blocks()).given->rules.footprint_count, 0U);
  EXPECT_EQ(outcome({.policy = run::Policy::shape}, offer_of_blocks()).given->rules.footprint_count, 1U);
}

TEST(Given, WithTheSameBitsLeavesOutWhatChangesThem) {
  const Outcome same = outcome({}, offer_of_blocks(), here_with({{"NCCL_ALGO", "Ring"}}));
  // The choice was made without that setting.
  EXPECT_THAT(same.notices,
              ElementsAre("p.json: not applied: 1 choice made without settings of the library, unlike this environment"));
  const Outcome asked = outcome({.same_bits = true}, offer_of_blocks());
  ASSERT_TRUE(asked.given);
  EXPECT_THAT(asked.given->controls.comm_library, IsEmpty());
  EXPECT_EQ(asked.given->same_bits, "--same-bits");
  EXPECT_EQ(asked.given->hook, std::nullopt);
  EXPECT_THAT(asked.notices,
              ElementsAre("--same-bits: not applied, for the same results to the bit: blocks and threads of collectives"));
}

TEST(Given, RemembersOnlyWhatAutoChooses) {
  EXPECT_EQ(outcome({.policy = run::Policy::gate}).given->memory, std::nullopt);
  EXPECT_EQ(outcome({.memory = false}).given->memory, std::nullopt);
  Asked uncompared;
  uncompared.controls.off = {"ab"};
  EXPECT_EQ(outcome(uncompared).given->memory, std::nullopt);
}

TEST(Given, RefusesAControlThatThePolicyNeverApplies) {
  EXPECT_THAT(refusal({.policy = run::Policy::shape}), HasSubstr("--policy: shape needs a --cap [NAME=]N or a profile"));
  Asked capped;
  capped.controls.caps = {{"*", BlocksPerSm(4)}};
  EXPECT_EQ(refusal(capped), "--cap: not applied by auto, expected --policy shape");
  Asked targeted{.policy = run::Policy::priority};
  targeted.controls.sm_target = Sms(108);
  EXPECT_EQ(refusal(targeted), "--sm-target: not applied by priority, expected --policy auto, gate or shape");
}

TEST(Given, RefusesGradientViewsWithoutTheHook) {
  const Asked views{.gradient_views = true};
  EXPECT_EQ(refusal(views), "");
  Here uninstalled = here_with({});
  uninstalled.hook.reset();
  EXPECT_THAT(refusal(views, uninstalled), HasSubstr("--gradient-views: the Python part is not installed"));
  EXPECT_THAT(refusal({.backend = RunBackend::hip, .gradient_views = true}),
              HasSubstr("--gradient-views: symmetric memory is left out"));
}

TEST(Asked, IsCheckedWithoutAProfile) {
  EXPECT_TRUE(check({}));
  Asked hip{.backend = RunBackend::hip};
  hip.controls.sm_target = Sms(108);
  EXPECT_THAT(check(hip).error().message,
              HasSubstr("(hip, because CUDA's driver cannot be loaded here; --backend cuda runs the command all the same)"));
  hip.names_backend = true;
  EXPECT_EQ(check(hip).error().message, "--sm-target: not there with hip, whose rocBLAS takes no number of compute units");
  Asked same{.same_bits = true};
  same.controls.sm_target = Sms(108);
  EXPECT_THAT(check(same).error().message, HasSubstr("--sm-target: not beside --same-bits"));
}

}  // namespace
}  // namespace elbowroom::preload
