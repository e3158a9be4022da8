#include "elbowroom/experiment/cases.hpp"

#include <gtest/gtest.h>

#include "elbowroom/plan/scheme.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using testing::small_case;
using testing::Told;

std::vector<Scenario> named(const std::vector<std::string>& names) {
  std::vector<Scenario> scenarios;
  for (const std::string& name : names) {
    scenarios.push_back(small_case());
    scenarios.back().name = name;
  }
  return scenarios;
}

std::string refusal(const Status& status) { return status ? "accepted" : status.error().message; }

TEST(Cases, OfASuiteComeWithItsTrialsAndSchemes) {
  const Result<CaseSelection> quick = suite_cases("quick", 2, {});
  ASSERT_TRUE(quick);
  EXPECT_EQ(quick->scenarios.size(), 3U);
  EXPECT_EQ(quick->trials, 10);
  EXPECT_EQ(quick->schemes, (std::vector<Scheme>(baselines().begin(), baselines().end())));
  const Result<CaseSelection> controls = suite_cases("controls", 2, {});
  ASSERT_TRUE(controls);
  EXPECT_EQ(controls->schemes.size(), schemes().size());
}

TEST(Cases, SayWhichSizesChanged) {
  Told told;
  ASSERT_TRUE(suite_cases("quick", 3, told.sink()));
  EXPECT_EQ(told.lines.size(), 1U);
}

TEST(Cases, AreKeptByName) {
  std::vector<Scenario> scenarios = named({"gelu-ar", "hgemm-ar", "gelu-ag"});
  ASSERT_TRUE(keep_only("^gelu", scenarios));
  ASSERT_EQ(scenarios.size(), 2U);
  EXPECT_EQ(scenarios.back().name, "gelu-ag");
  EXPECT_EQ(refusal(keep_only("mm", scenarios)), "only: 'mm', expected to be found in the name of a case");
  EXPECT_EQ(refusal(keep_only("(", scenarios)), "only: '(', expected a regular expression");
  EXPECT_EQ(refusal(keep_only(std::string(201, 'a'), scenarios)), "only: 201 bytes, expected at most 200");
}

TEST(Cases, ThatAreNotValidAreNamed) {
  std::vector<Scenario> scenarios = named({"good", "bad"});
  EXPECT_TRUE(check_cases(scenarios));
  scenarios.back().gpus = 1;
  EXPECT_EQ(refusal(check_cases(scenarios)).substr(0, 5), "bad: ");
}

TEST(Cases, RunWhereEnoughDevicesAre) {
  Told told;
  BackendRequest request{"sim", false, {}};
  request.options.notice = told.sink();
  std::vector<Scenario> scenarios = named({"a"});
  const auto backend = open_for(request, scenarios);
  ASSERT_TRUE(backend);
  EXPECT_EQ((*backend)->provenance(), Provenance::simulated);
  const int devices = static_cast<int>((*backend)->devices().size());
  scenarios.front().gpus = devices + 1;
  const auto few = open_for(request, scenarios);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message,
            "gpus: " + std::to_string(devices + 1) + ", expected at most " + std::to_string(devices) + " (devices of backend sim)");
}

TEST(Cases, HaveAnOrigin) {
  const auto backend = testing::simulator();
  const Origin origin = origin_of(*backend, 4, 7);
  EXPECT_EQ(origin.provenance, Provenance::simulated);
  EXPECT_EQ(origin.device.limits.name, "h200");
  EXPECT_EQ(origin.device.count, 4);
  EXPECT_EQ(origin.seed, 7U);
}

}  // namespace
}  // namespace elbowroom
