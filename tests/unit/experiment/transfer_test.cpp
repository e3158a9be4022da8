#include "elbowroom/experiment/transfer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "elbowroom/experiment/stored_plans.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/experiment/cases.hpp"
#include "unit/tune/choices.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::pair_of;
using testing::simulator;
using testing::small_case;
using ::testing::StartsWith;

Status keep_on(std::string_view) { return {}; }

class Transferring : public ::testing::Test {
 protected:
  /// With nothing chosen.
  StoredChoice choice_for(const Scenario& scenario) {
    StoredChoice choice;
    choice.key = profile_key(scenario, CaseTrials::prepare(*backend_, scenario)->compute().footprint, surroundings_of(*backend_));
    return choice;
  }
  /// Made for a collective of half the size: four blocks.
  StoredChoice elsewhere() {
    Scenario smaller = small_case();
    smaller.collective.bytes = mebibytes(32);
    StoredChoice choice = choice_for(smaller);
    choice.plan.comm_blocks = Blocks(4);
    return choice;
  }
  TransferCase transferred(const std::vector<StoredChoice>& choices) {
    TransferSettings settings;
    settings.trials = 2;
    for (const StoredChoice& choice : choices) {
      settings.profiles.push_back({"profile " + std::to_string(settings.profiles.size() + 1), {}});
      settings.profiles.back().profile.put(choice);
    }
    Result<TransferCase> found = transfer_case(*backend_, small_case(), settings, keep_on);
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  Microseconds time_of(Order order, const OverlapPlan& plan) {
    return *CaseTrials::prepare(*backend_, small_case())->run(order, plan);
  }

  std::unique_ptr<Backend> backend_ = simulator();
};

TEST_F(Transferring, RegretIsWhatAPlanTakesMoreThanTheBestKnownHere) {
  // By hand: every plan of the case once on a simulator without noise. The best is the least of the baselines and of what both
  // profiles offer, and the regret of a plan is its time over that, less one.
  StoredChoice own = choice_for(small_case());
  own.plan.priority = true;
  own.plan.comm_blocks = Blocks(32);
  const TransferCase found = transferred({elsewhere(), own});
  ASSERT_EQ(found.transferred.size(), 2U);
  const Transferred& few = found.transferred[0];
  ASSERT_TRUE(few.compared) << few.refused.value_or("");
  const Microseconds few_time = time_of(Order::concurrent, elsewhere().plan);
  const Microseconds own_time = time_of(Order::concurrent, own.plan);
  Microseconds least = std::min(few_time, own_time);
  for (const TransferBaseline& baseline : found.baselines) {
    const Microseconds time = time_of(order_of(baseline.scheme), baseline.plan);
    EXPECT_EQ(baseline.compared.time.median, time);
    least = std::min(least, time);
  }
  EXPECT_EQ(least, own_time) << "of this case the plan with 32 blocks is the best, or the numbers below say nothing";
  EXPECT_EQ(found.best, "profile 2");
  EXPECT_EQ(found.best_time.median, least);
  EXPECT_DOUBLE_EQ(few.compared->regret(), few_time / least - 1);
  EXPECT_GT(few.compared->regret(), 0.2);
  EXPECT_DOUBLE_EQ(found.transferred[1].compared->regret(), 0);
}

TEST_F(Transferring, OfEqualTimesTheCasesOwnChoiceIsTheBest) {
  StoredChoice own = choice_for(small_case());
  own.plan.comm_blocks = Blocks(32);
  own.plan.priority = true;
  StoredChoice same = elsewhere();
  same.plan = own.plan;
  const TransferCase found = transferred({same, own});
  EXPECT_EQ(found.best, "profile 2");
  EXPECT_DOUBLE_EQ(found.transferred[0].compared->regret(), 0);
}

TEST_F(Transferring, SaysHowTheCaseWasAnother) {
  const TransferCase found = transferred({elsewhere(), choice_for(small_case())});
  EXPECT_THAT(found.transferred[0].differs, ElementsAre("size of collective 2^26 B, stored 2^25 B"));
  EXPECT_THAT(found.transferred[1].differs, IsEmpty());
  EXPECT_TRUE(found.knows_its_own());
  EXPECT_FALSE(transferred({elsewhere()}).knows_its_own());
}

TEST_F(Transferring, ReachesACapWithThePadOfThisKernel) {
  StoredChoice capped = elsewhere();
  capped.plan.comm_blocks.reset();
  capped.plan.blocks_per_sm = BlocksPerSm(4);
  capped.plan.pad = Bytes(1);  // of another kernel
  const Transferred row = transferred({capped}).transferred[0];
  ASSERT_TRUE(row.compared) << row.refused.value_or("");
  const Result<ControlSite> site = CaseTrials::prepare(*backend_, small_case())->site();
  EXPECT_EQ(row.plan, *plan_of(*site, *parse_plan("blocks_per_sm=4")));
  EXPECT_GT(row.plan.pad, Bytes(1));
}

TEST_F(Transferring, SaysWhyAPlanCannotActHere) {
  StoredChoice grouped = elsewhere();
  grouped.plan.cluster = 3;
  StoredChoice other = elsewhere();
  pair_of(other.key).collective.op = CollectiveOp::all_to_all;
  const TransferCase found = transferred({grouped, other});
  EXPECT_THAT(found.transferred[0].refused.value_or(""), StartsWith("cluster: 3, expected one of "));
  EXPECT_FALSE(found.transferred[0].compared);
  EXPECT_EQ(found.transferred[1].refused, "the profile has no choice for such a kernel and operation");
  EXPECT_FALSE(found.knows_its_own());
}

TEST_F(Transferring, EndsWhereItIsTold) {
  const auto stop = [](std::string_view step) { return step == "timing" ? Status(failed("interrupted")) : Status(); };
  const Result<TransferCase> found = transfer_case(*backend_, small_case(), {}, stop);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "relu-ar: interrupted");
}

TEST_F(Transferring, TakesTheNearestChoice) {
  ProfileKey key = choice_for(small_case()).key;
  const auto choice = [&](int ranks, int exponent) {
    StoredChoice made;
    made.key = key;
    made.key.ranks = ranks;
    pair_of(made.key).collective_class.exponent = exponent;
    return made;
  };
  const int exponent = pair_of(key).collective_class.exponent;
  // One difference is nearer than two, of one difference the nearest size.
  const std::vector<StoredChoice> farther{choice(8, exponent + 1), choice(2, exponent - 3), choice(2, exponent + 1)};
  Profile profile;
  for (const StoredChoice& stored : farther) { profile.put(stored); }
  ASSERT_NE(nearest_choice(profile, key), nullptr);
  EXPECT_EQ(*nearest_choice(profile, key), farther[2]);
  profile.put(choice(2, exponent));
  EXPECT_EQ(nearest_choice(profile, key)->key, key);
  ProfileKey named = key;
  pair_of(named).compute = NamedKernel{KernelKind::library_gemm, DataType::bf16};
  EXPECT_EQ(nearest_choice(profile, named), nullptr);
}

}  // namespace
}  // namespace elbowroom
