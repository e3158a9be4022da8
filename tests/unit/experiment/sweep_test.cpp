#include "elbowroom/experiment/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/plan/program.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using testing::simulator;
using testing::small_case;
using ::testing::StartsWith;

class Watching : public SweepObserver {
 public:
  Status begin(const SweepCase&, std::size_t) override { return begun++ == end_at ? Status(failed("interrupted")) : Status(); }
  Status end(const SweepDocument& document) override {
    kept = to_json(document);
    return {};
  }
  int begun = 0;
  int end_at = -1;
  std::string kept;
};

SweepSettings settings_of(const std::string& axes, std::optional<std::string> plan = std::nullopt) {
  return {*parse_sweep(axes), std::move(plan), 2, 1};
}

class Sweep : public ::testing::Test {
 protected:
  SweepDocument planned(const SweepSettings& settings) {
    Result<SweepDocument> document = plan_sweep(*backend_, {small_case()}, settings);
    EXPECT_TRUE(document) << document.error().message;
    return *document;
  }
  std::string refusal(const std::string& axes, const std::optional<std::string>& plan = std::nullopt) {
    const Result<SweepDocument> document = plan_sweep(*backend_, {small_case()}, settings_of(axes, plan));
    return document ? "accepted" : document.error().message;
  }

  std::unique_ptr<Backend> backend_ = simulator();
  Watching watching_;
};

TEST_F(Sweep, TimesEveryPairAndComparesItWithTwoPlainStreams) {
  SweepDocument document = planned(settings_of("comm_blocks=4:8,priority=off:on"));
  ASSERT_TRUE(run_sweep(*backend_, document, watching_));
  ASSERT_EQ(document.done(), 4U);
  CaseTrials trials = *CaseTrials::prepare(*backend_, small_case());
  OverlapPlan plan;
  plan.comm_blocks = Blocks(8);
  plan.priority = true;
  const SweepCell& last = *document.cases[0].cells[3];
  EXPECT_EQ(last.plan, plan);
  EXPECT_EQ(last.time->median, *trials.run(Order::concurrent, plan));
  EXPECT_DOUBLE_EQ(last.ratio->median, *trials.run(Order::concurrent, plan) / *trials.run(Order::concurrent, {}));
  EXPECT_EQ(last.time->trials, 2);
  EXPECT_EQ(watching_.kept, to_json(document));
}

TEST_F(Sweep, GoesThroughSizesOfTheScenario) {
  SweepDocument document = planned(settings_of("collective.bytes=32M:64M,comm_blocks=off:8", "priority"));
  ASSERT_TRUE(run_sweep(*backend_, document, watching_));
  Scenario smaller = small_case();
  smaller.collective.bytes = mebibytes(32);
  OverlapPlan plan;
  plan.priority = true;
  EXPECT_EQ(document.cases[0].cells[0]->plan, plan);
  EXPECT_EQ(document.cases[0].cells[0]->time->median, *CaseTrials::prepare(*backend_, smaller)->run(Order::concurrent, plan));
  EXPECT_EQ(document.cases[0].flatness().size(), 2U);  // a best one for each size
}

TEST_F(Sweep, GoesOnFromWhereItWasEnded) {
  const SweepSettings settings = settings_of("blocks_per_sm,comm_blocks=4:8");
  SweepDocument whole = planned(settings);
  ASSERT_TRUE(run_sweep(*backend_, whole, watching_));
  Watching ending;
  ending.end_at = 3;
  SweepDocument half = planned(settings);
  const Status ended = run_sweep(*backend_, half, ending);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "interrupted");
  SweepDocument rest = planned(settings);
  ASSERT_TRUE(take_cells(rest, ending.kept, "file"));
  EXPECT_EQ(rest.done(), 3U);
  Watching going_on;
  ASSERT_TRUE(run_sweep(*backend_, rest, going_on));
  EXPECT_EQ(going_on.begun, static_cast<int>(rest.cells()) - 3);
  EXPECT_EQ(to_json(rest), to_json(whole));
}

TEST_F(Sweep, KeepsTheReasonOfACellThatCannotAct) {
  SweepDocument document = planned(settings_of("cluster=1:3"));
  ASSERT_TRUE(run_sweep(*backend_, document, watching_));
  EXPECT_TRUE(document.cases[0].cells[0]->time);
  EXPECT_THAT(document.cases[0].cells[1]->refused.value_or(""), StartsWith("cluster: 3, expected one of "));
}

TEST_F(Sweep, RefusesBeforeAnythingRuns) {
  EXPECT_EQ(refusal("priority,comm_blocks=8", "priority"), "priority: in the plan of all cells and an axis, expected one of both");
  EXPECT_THAT(refusal("compute.m=64"), StartsWith("relu-ar: compute"));
  EXPECT_THAT(refusal("collective.bytes=32M:3"), HasSubstr("collective.bytes: 3"));
  EXPECT_THAT(refusal("sm_target"), StartsWith("relu-ar: sm_target: "));  // no library's product
}

}  // namespace
}  // namespace elbowroom
