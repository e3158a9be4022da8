#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/experiment/sweep.hpp"
#include "elbowroom/experiment/tune_case.hpp"
#include "elbowroom/experiment/tune_report.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "unit/experiment/cases.hpp"
#include "unit/experiment/tuning.hpp"
#include "unit/plan/layers.hpp"

namespace elbowroom {
namespace {

using testing::ample;
using testing::go_on;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::simulator;
using testing::small_case;
using ::testing::StartsWith;
using testing::Told;

TunedCase tuned(Backend& backend, const Case& what) {
  Result<TunedCase> found = tune_case(backend, what, ample(), go_on);
  EXPECT_TRUE(found) << found.error().message;
  return *found;
}

class Nobody : public SweepObserver {
 public:
  Status begin(const SweepCase&, std::size_t) override { return {}; }
  Status end(const SweepDocument&) override { return {}; }
};

// The scenario is the oracle: the step of its two operations has the same plans, times and choice.
TEST(TuneStep, ChoosesWhatItsScenarioDoes) {
  const std::unique_ptr<Backend> backend = simulator();
  const TunedCase scenario = tuned(*backend, small_case());
  const TunedCase step = tuned(*backend, step_of(small_case()));
  ASSERT_EQ(step.candidates.size(), scenario.candidates.size());
  for (std::size_t at = 0; at < step.candidates.size(); ++at) {
    EXPECT_EQ(step.candidates[at].candidate.plan, scenario.candidates[at].candidate.plan);
    EXPECT_EQ(step.candidates[at].times, scenario.candidates[at].times);
  }
  EXPECT_EQ(step.choice.plan, scenario.choice.plan);
  EXPECT_EQ(step.choice.time, scenario.choice.time);
  EXPECT_FALSE(step.acts_on);
  EXPECT_FALSE(step.choice.made_for);
}

TEST(TuneStep, AChainHasNoShareOfItsCriticalPath) {
  const std::unique_ptr<Backend> backend = simulator();
  Scenario chain = small_case();
  chain.iterations = 1;
  for (const Case& what : {Case(chain), Case(step_of(chain))}) {
    const TunedCase found = tuned(*backend, what);
    EXPECT_GT(found.sequential, found.critical_path) << "by a launch";
    EXPECT_FALSE(found.can_overlap);
    const std::string table = to_table(found, Origin());
    EXPECT_THAT(table, HasSubstr(", nothing to gain by overlap"));
    EXPECT_THAT(table, Not(HasSubstr("% of what the critical path saves")));
    EXPECT_THAT(to_json(Origin(), {}, {found}), HasSubstr("\"overlap_efficiency\": null"));
  }
}

TEST(TuneStep, IsNoSlowerThanTheBestBaselineAndSaysWhereItActs) {
  const std::unique_ptr<Backend> backend = simulator();
  const TunedCase found = tuned(*backend, two_layers());
  EXPECT_LE(found.choice.time, found.choice.baseline_time);
  CaseTrials trials = *CaseTrials::prepare(*backend, two_layers());
  EXPECT_EQ(found.choice.time, *trials.run(order_of(found.choice.scheme), found.choice.plan));
  EXPECT_EQ(found.acts_on, trials.where_it_acts(found.choice.plan));
  OverlapPlan engines;
  engines.copy_engine = true;
  EXPECT_THAT(trials.where_it_acts(engines).value_or(""), StartsWith("copy engines on "));
  EXPECT_THAT(to_table(found, Origin()), HasSubstr("# simulated: layers: 2 ranks, 1 repeat; 8 operations, 3 of them communicate"));
}

TEST(TuneStep, IsFoundAgainInAProfile) {
  const std::unique_ptr<Backend> backend = simulator();
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("elbowroom-tune-step-" + std::to_string(getpid()) + ".json");
  const TunedCase found = tuned(*backend, two_layers());
  Told told;
  ASSERT_TRUE(store_choice(file, found.choice, told.sink()));
  CaseTrials trials = *CaseTrials::prepare(*backend, two_layers());
  const Result<TunedPlan> plan = stored_plans(*backend, file, told.sink())(trials);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->plan, found.choice.plan);
  EXPECT_THAT(plan->note, StartsWith("stored: "));
  // Another step has none, whatever its name is.
  Step other = two_layers();
  other.repeats = 2;
  CaseTrials others = *CaseTrials::prepare(*backend, other);
  EXPECT_THAT(stored_plans(*backend, file, told.sink())(others)->note, StartsWith("the profile lacks this case"));
  std::filesystem::remove(file);
  std::filesystem::remove(file.string() + ".lock");
}

TEST(SweepOfAStep, VariesControlsAlone) {
  const std::unique_ptr<Backend> backend = simulator();
  Result<SweepDocument> document = plan_sweep(*backend, {two_layers()}, {*parse_sweep("copy_engine,priority"), std::nullopt, 2, 1});
  ASSERT_TRUE(document) << document.error().message;
  Nobody nobody;
  ASSERT_TRUE(run_sweep(*backend, *document, nobody));
  CaseTrials trials = *CaseTrials::prepare(*backend, two_layers());
  OverlapPlan plan;
  plan.priority = true;
  EXPECT_EQ(document->cases[0].cells[1]->time->median, *trials.run(Order::concurrent, plan));
  // Copy engines act on the gathers: that the scatter has none is no refusal.
  for (const std::optional<SweepCell>& cell : document->cases[0].cells) { EXPECT_EQ(cell->refused.value_or(""), ""); }
  EXPECT_THAT(to_json(*document), HasSubstr("\"step\": {"));
  const Result<SweepDocument> refused =
      plan_sweep(*backend, {two_layers()}, {*parse_sweep("compute.m=64:128"), std::nullopt, 2, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "layers: compute.m: a scenario's member, expected controls alone in a sweep of a step");
}

}  // namespace
}  // namespace elbowroom
