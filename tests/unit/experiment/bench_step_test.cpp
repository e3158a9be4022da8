#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/report/result_document.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
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
