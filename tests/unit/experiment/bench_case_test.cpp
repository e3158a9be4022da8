#include "elbowroom/experiment/bench_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/plan/critical_path.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using testing::simulator;
using testing::small_case;
using ::testing::StartsWith;

/// Counts steps, and ends the case at one of them.
class Counting : public CaseObserver {
 public:
  void expect(CaseStep, std::size_t) override {}
  Status begin(CaseStep step, std::string_view) override {
    ++steps[static_cast<std::size_t>(step)];
    return ++begun == end_at ? Status(failed("interrupted")) : Status();
  }
  int steps[5] = {};
  int begun = 0;
  int end_at = -1;
};

BenchSettings settings_for(std::vector<Scheme> schemes) {
  BenchSettings settings;
  settings.schemes = std::move(schemes);
  settings.trials = 4;
  return settings;
}

class BenchCase : public ::testing::Test {
 protected:
  CaseResult benched(const BenchSettings& settings) {
    Result<CaseMeasurement> measured = bench_case(*backend_, small_case(), settings, observer_);
    EXPECT_TRUE(measured) << measured.error().message;
    return measured->result;
  }

  std::unique_ptr<Backend> backend_ = simulator();
  Counting observer_;
};

std::vector<std::string> names_of(const CaseResult& result) {
  std::vector<std::string> names;
  for (const SchemeResult& scheme : result.results) { names.push_back(scheme.scheme); }
  return names;
}

TEST_F(BenchCase, ComparesEverySchemeWithSequential) {
  const CaseResult result = benched(settings_for({Scheme::priority}));
  EXPECT_THAT(names_of(result), ElementsAre("sequential", "priority"));
  CaseTrials trials = *CaseTrials::prepare(*backend_, small_case());
  OverlapPlan urgent;
  urgent.priority = true;
  const Microseconds in_turn = *trials.run(Order::sequential, {});
  const Microseconds overlapped = *trials.run(Order::concurrent, urgent);
  EXPECT_EQ(result.results[0].time.median, in_turn);
  EXPECT_EQ(result.results[1].time.median, overlapped);
  EXPECT_EQ(result.results[1].time.trials, 4);
  EXPECT_DOUBLE_EQ(*result.results[1].metrics.time_ratio, overlapped / in_turn);
  EXPECT_FALSE(result.results[0].ratio);
  // Trials agree; the model is off by its width in either time.
  const double width = backend_->devices().front().model->width;
  EXPECT_DOUBLE_EQ(result.results[1].ratio->low, overlapped / in_turn * (1 - width) / (1 + width));
  EXPECT_DOUBLE_EQ(result.results[1].ratio->high, overlapped / in_turn * (1 + width) / (1 - width));
  EXPECT_EQ(result.critical_path,
            critical_path(small_case(), *trials.run(Order::compute_only, {}), *trials.run(Order::comm_only, {})));
  ASSERT_TRUE(result.hardware_limit);
  EXPECT_LE(result.hardware_limit->time, in_turn) << "no part takes longer than its operation alone";
}

// The device is H200, whose model is fitted: 7.6 % to either side.
TEST_F(BenchCase, SimulatedMediansHaveTheModelsWidth) {
  const CaseResult result = benched(settings_for({Scheme::concurrent}));
  const auto expect_width = [](const Summary& time) {
    EXPECT_DOUBLE_EQ(time.low / time.median, 1 - 0.076);
    EXPECT_DOUBLE_EQ(time.high / time.median, 1 + 0.076);
  };
  expect_width(*result.compute_alone);
  expect_width(*result.comm_alone);
  for (const SchemeResult& scheme : result.results) { expect_width(scheme.time); }
}

TEST_F(BenchCase, RunsWhatItSays) {
  benched(settings_for({Scheme::concurrent}));
  // Four entries: both sides alone, sequential, concurrent. 2 warm-up and 4 counted rounds, 3 recordings.
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::prepare)], 1);
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::screen)], 0);
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::verify)], 4);
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::run)], 24);
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::record)], 12);
}

TEST_F(BenchCase, TakesTheBestCapOfAShapedScheme) {
  BenchSettings settings = settings_for({Scheme::shaped});
  const CaseResult best = benched(settings);
  ASSERT_EQ(best.results.size(), 2U);
  settings.residency.kind = ResidencyChoice::Kind::every;
  const CaseResult every = benched(settings);
  ASSERT_GT(every.results.size(), 2U);
  for (std::size_t at = 1; at < every.results.size(); ++at) {
    EXPECT_GE(every.results[at].time.median, best.results[1].time.median);
  }
  settings.residency = {ResidencyChoice::Kind::fixed, *every.results.back().plan.blocks_per_sm};
  const CaseResult fixed = benched(settings);
  ASSERT_EQ(fixed.results.size(), 2U);
  EXPECT_EQ(fixed.results[1].plan, every.results.back().plan);
}

TEST_F(BenchCase, RefusesWhatCannotAct) {
  BenchSettings settings = settings_for({Scheme::sm_target_only});
  const CaseResult nobody_asked = benched(settings);
  ASSERT_EQ(nobody_asked.refusals.size(), 1U);
  EXPECT_EQ(nobody_asked.refusals.front().scheme, "sm_target_only");
  EXPECT_FALSE(nobody_asked.refusals.front().asked_for);
  settings.schemes_asked_for = true;
  EXPECT_TRUE(benched(settings).refusals.front().asked_for);
}

TEST_F(BenchCase, RunsPlansThatWereGivenBesideTheSchemes) {
  BenchSettings settings = settings_for({});
  settings.plans = {*parse_plan("priority,comm_blocks=8"), *parse_plan("sm_target=100")};
  const CaseResult result = benched(settings);
  EXPECT_THAT(names_of(result), ElementsAre("sequential", "plan 1"));
  EXPECT_EQ(result.results[1].plan.comm_blocks, Blocks(8));
  ASSERT_EQ(result.refusals.size(), 1U);
  EXPECT_EQ(result.refusals.front().scheme, "plan 2");
  EXPECT_TRUE(result.refusals.front().asked_for);
}

TEST_F(BenchCase, AsksForAStoredPlan) {
  BenchSettings settings = settings_for({Scheme::tuned});
  settings.tuned = [](CaseTrials&) -> Result<TunedPlan> { return TunedPlan{Scheme::sequential, {}, "stored: as it was"}; };
  const CaseResult result = benched(settings);
  ASSERT_EQ(result.results.size(), 2U);
  EXPECT_EQ(result.results[1].note, "stored: as it was; the schedule of sequential, measured once");
  EXPECT_EQ(result.results[1].time.median, result.results[0].time.median);  // one stream again
}

// Two measurements of one schedule differ by chance, and `tuned` would seem slower than the baseline that it is.
TEST_F(BenchCase, MeasuresAStoredPlanThatIsABaselineOnce) {
  BenchSettings settings = settings_for({Scheme::tuned, Scheme::priority});
  settings.tuned = [](CaseTrials&) -> Result<TunedPlan> {
    OverlapPlan urgent;
    urgent.priority = true;
    return TunedPlan{Scheme::priority, urgent, "stored"};
  };
  const CaseResult result = benched(settings);
  EXPECT_THAT(names_of(result), ElementsAre("sequential", "tuned", "priority"));
  EXPECT_EQ(result.results[1].note, "stored; the schedule of priority, measured once");
  EXPECT_EQ(result.results[1].time.median, result.results[2].time.median);
  EXPECT_EQ(result.results[1].ratio->median, result.results[2].ratio->median);
  EXPECT_EQ(result.results[1].metrics.overlap_rate, result.results[2].metrics.overlap_rate);
  // Four schedules of five: both sides alone, sequential, priority. 2 warm-up and 4 counted rounds, 3 recordings.
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::verify)], 4);
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::run)], 24);
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::record)], 12);

  observer_ = {};
  settings.tuned = [](CaseTrials&) -> Result<TunedPlan> {
    OverlapPlan fewer;
    fewer.comm_blocks = Blocks(8);
    return TunedPlan{Scheme::tuned, fewer, "stored"};
  };
  EXPECT_EQ(benched(settings).results[1].note, "stored") << "another schedule is measured by itself";
  EXPECT_EQ(observer_.steps[static_cast<int>(CaseStep::run)], 30);
}

TEST_F(BenchCase, EndsAtAnyStep) {
  for (const int step : {1, 2, 10, 40}) {
    Counting ending;
    ending.end_at = step;
    const Result<CaseMeasurement> ended = bench_case(*backend_, small_case(), settings_for({Scheme::shaped}), ending);
    ASSERT_FALSE(ended) << step;
    EXPECT_THAT(ended.error().message, ::testing::EndsWith("interrupted"));
    EXPECT_EQ(ending.begun, step);
  }
}

TEST_F(BenchCase, NamesTheCaseThatCannotRun) {
  Scenario many = small_case();
  many.gpus = 1000;
  const Result<CaseMeasurement> none = bench_case(*backend_, many, settings_for({}), observer_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, StartsWith("relu-ar: "));
}

TEST(ResidencyChoice, IsAWordOrANumber) {
  EXPECT_EQ(parse_residency("best")->kind, ResidencyChoice::Kind::best);
  EXPECT_EQ(parse_residency("all")->kind, ResidencyChoice::Kind::every);
  EXPECT_EQ(parse_residency("5")->blocks_per_sm, BlocksPerSm(5));
  for (const char* wrong : {"", "0", "-1", "5 ", "five", "99999999999"}) {
    const Result<ResidencyChoice> none = parse_residency(wrong);
    ASSERT_FALSE(none) << wrong;
    EXPECT_THAT(none.error().message, StartsWith(std::string("blocks-per-sm: '") + wrong + "', expected best, all or 1 to "));
  }
}

}  // namespace
}  // namespace elbowroom
