#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/report/result_document.hpp"
#include "elbowroom/report/result_table.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::simulator;
using testing::small_case;

class Silent : public CaseObserver {
 public:
  void expect(CaseStep /*step*/, std::size_t /*count*/) override {}
  Status begin(CaseStep /*step*/, std::string_view /*what*/) override { return {}; }
};

Result<CaseMeasurement> benched_case(const Case& what, std::vector<Scheme> schemes) {
  const std::unique_ptr<Backend> backend = simulator();
  BenchSettings settings;
  settings.schemes = std::move(schemes);
  settings.trials = 2;
  Silent observer;
  return bench_case(*backend, what, settings, observer);
}

// The step of two operations that a scenario is takes the same times. Its critical path is that of one kernel and one collective
// each by itself, without what a stream's next launch waits: within a hundredth.
TEST(BenchStep, TakesTheTimesOfItsScenario) {
  const CaseResult scenario = benched_case(small_case(), {Scheme::concurrent, Scheme::priority})->result;
  const CaseResult step = benched_case(step_of(small_case()), {Scheme::concurrent, Scheme::priority})->result;
  ASSERT_EQ(step.results.size(), 3U);
  for (std::size_t at = 0; at < step.results.size(); ++at) {
    EXPECT_EQ(step.results[at].scheme, scenario.results[at].scheme);
    EXPECT_EQ(step.results[at].time.median, scenario.results[at].time.median);
    EXPECT_EQ(step.results[at].metrics.overlap_rate, scenario.results[at].metrics.overlap_rate);
  }
  EXPECT_NEAR(*step.critical_path / *scenario.critical_path, 1, 0.01);
}

// One kernel, then one collective that waits for it: C + M alone and in any schedule. `sequential` takes a launch longer than that,
// other schemes two, and a share of a launch is none of overlap.
TEST(BenchStep, AChainHasNoShareOfItsCriticalPath) {
  Scenario chain = small_case();
  chain.iterations = 1;
  for (const Case& what : {Case(chain), Case(step_of(chain))}) {
    const CaseResult result = benched_case(what, {Scheme::concurrent})->result;
    EXPECT_NEAR(*result.critical_path / (result.compute_alone->median + result.comm_alone->median), 1, 1e-12);
    ASSERT_EQ(result.results.size(), 2U);
    EXPECT_GT(result.results[0].time.median, *result.critical_path);
    for (const SchemeResult& scheme : result.results) {
      EXPECT_EQ(scheme.metrics.overlap_efficiency, std::nullopt);
      EXPECT_TRUE(scheme.metrics.time_ratio);
    }
    EXPECT_THAT(to_table(result, Origin()), HasSubstr(", nothing to gain by overlap\n"));
  }
  // Without the wait the shorter of both can be hidden.
  chain.pattern = Pattern::pair;
  for (const Case& what : {Case(chain), Case(step_of(chain))}) {
    const CaseResult result = benched_case(what, {Scheme::concurrent})->result;
    EXPECT_TRUE(result.results[1].metrics.overlap_efficiency);
    EXPECT_THAT(to_table(result, Origin()), Not(HasSubstr("nothing to gain")));
  }
}

TEST(BenchStep, StandsInTheDocumentAsItIs) {
  ResultDocument document;
  document.cases.push_back(benched_case(step_of(small_case()), {})->result);
  EXPECT_THAT(to_json(document),
              HasSubstr("\"step\": {\n        \"schema\": \"elbowroom.step/1\",\n        \"name\": \"relu-ar\""));
}

TEST(BenchStep, HasNoStoredPlan) {
  const Result<CaseMeasurement> tuned = benched_case(step_of(small_case()), {Scheme::tuned});
  ASSERT_FALSE(tuned);
  EXPECT_EQ(tuned.error().message, "relu-ar: tuned: no profile was looked up");
}

}  // namespace
}  // namespace elbowroom
