#include "preload/budget_questions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr run::Policy kAuto = run::Policy::automatic;
constexpr RunBackend kCuda = RunBackend::cuda;

BudgetQuestions of_auto(const Controls& controls, const Variables& environment) {
  return budget_questions(kAuto, kCuda, controls, std::nullopt, environment);
}

TEST(BudgetQuestions, AreAskedByAutoAlone) {
  EXPECT_EQ(of_auto({}, {}), BudgetQuestions{true});
  EXPECT_EQ(budget_questions(run::Policy::gate, kCuda, {}, std::nullopt, {}), BudgetQuestions{});
  EXPECT_EQ(budget_questions(kAuto, RunBackend::hip, {}, std::nullopt, {}), BudgetQuestions{});
  Controls uncompared;
  uncompared.off = {"ab"};
  EXPECT_EQ(of_auto(uncompared, {}), BudgetQuestions{});
}

TEST(BudgetQuestions, AreAskedInAnyCaseForABudgetOfTheCommandLine) {
  Controls budget;
  budget.comm_rules = {{CommRule::budget, 8}};
  budget.off = {"budget"};
  EXPECT_EQ(budget_questions(run::Policy::priority, kCuda, budget, "--same-bits", {}), BudgetQuestions{true});
}

TEST(BudgetQuestions, SayWhyAutoComparesNone) {
  Controls off;
  off.off = {"budget"};
  EXPECT_EQ(of_auto(off, {}), (BudgetQuestions{false, "--off budget"}));
  EXPECT_EQ(budget_questions(kAuto, kCuda, {}, "NCCL_ALGO=Ring", {}), (BudgetQuestions{false, "NCCL_ALGO=Ring"}));
  EXPECT_EQ(of_auto({}, {{"NCCL_MAX_CTAS", "8"}}), (BudgetQuestions{false, "NCCL_MAX_CTAS=8"}));
  EXPECT_EQ(of_auto({}, {{"NCCL_MAX_CTAS", ""}}), BudgetQuestions{true}) << "set to nothing";
  Controls set;
  set.comm_library = {{"NCCL_MAX_CTAS", "12"}};
  EXPECT_EQ(of_auto(set, {{"NCCL_MAX_CTAS", "8"}}), (BudgetQuestions{false, "NCCL_MAX_CTAS=12"})) << "what the run sets counts";
}

// NCCL's policy of efficiency acts only without a plugin. Its default and that of copy engines are as they were.
TEST(BudgetQuestions, LeaveAPolicyThatNeedsToBeAlone) {
  for (const char* const kept : {"0", "2", "default", "ZERO", "DEFAULT|ZERO"}) {
    EXPECT_EQ(of_auto({}, {{"NCCL_CTA_POLICY", kept}}), BudgetQuestions{true}) << kept;
  }
  for (const char* const alone : {"1", "EFFICIENCY", "zero|efficiency"}) {
    EXPECT_FALSE(of_auto({}, {{"NCCL_CTA_POLICY", alone}}).asked) << alone;
  }
}

TEST(TunerEnvironment, NamesThePluginTheJobAndWhatWasThereBefore) {
  const std::string library = "/lib/libelbowroom_interposer.so";
  EXPECT_THAT(tuner_environment(library, "run-1", false, {}),
              ElementsAre(Pair("NCCL_TUNER_PLUGIN", library), Pair("ELBOWROOM_RUN_JOB", "run-1")));
  EXPECT_THAT(tuner_environment(library, "run-1", true, {{"NCCL_TUNER_PLUGIN", "mine"}}),
              ElementsAre(Pair("NCCL_TUNER_PLUGIN", library), Pair("ELBOWROOM_RUN_JOB", "ranks"),
                          Pair("ELBOWROOM_RUN_TUNER_PLUGIN", "mine")));
  EXPECT_EQ(tuner_environment(library, "run-1", false, {{"NCCL_TUNER_PLUGIN", "/other/libelbowroom_interposer.so"}}).size(), 2U)
      << "of a run around this one";
}

}  // namespace
}  // namespace elbowroom::preload
