#include "elbowroom/report/result_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "example_document.hpp"

namespace elbowroom {
namespace {

const ResultColumn& column(std::string_view tag) {
  const auto columns = result_columns();
  return *std::find_if(columns.begin(), columns.end(), [&](const ResultColumn& candidate) { return candidate.tag == tag; });
}

CaseResult case_lasting(double microseconds) {
  CaseResult result;
  result.results.push_back(example_result("x", {}, example_time(microseconds, microseconds, microseconds)));
  return result;
}

TEST(ResultColumns, TagsAreUniqueAndDescribed) {
  std::set<std::string_view> tags;
  for (const ResultColumn& described : result_columns()) {
    EXPECT_TRUE(tags.insert(described.tag).second) << described.tag;
    EXPECT_FALSE(described.description.empty()) << described.tag;
  }
}

TEST(ResultColumns, TagsArePathsInTheDocument) {
  ResultDocument document = example_document();
  document.cases[0].results[0].energy = SchemeEnergy{};
  const auto result = nlohmann::json::parse(to_json(document))["cases"][0]["results"][0];
  for (const ResultColumn& described : result_columns()) {
    std::string path = "/" + std::string(described.tag.substr(0, described.tag.find("..")));
    std::replace(path.begin(), path.end(), '.', '/');
    EXPECT_TRUE(result.contains(nlohmann::json::json_pointer(path))) << described.tag;
  }
}

TEST(ResultColumns, ControlsThatNobodyUsesAreLeftOut) {
  const auto shows = [](const CaseResult& result, std::string_view tag) {
    const auto columns = columns_of(result);
    return std::any_of(columns.begin(), columns.end(), [&](const ResultColumn& shown) { return shown.tag == tag; });
  };
  EXPECT_FALSE(shows(example_case(), "plan.launch_gate"));
  EXPECT_FALSE(shows(example_case(), "plan.sm_target"));
  EXPECT_TRUE(shows(example_case_of_all_controls(), "plan.launch_gate"));
  EXPECT_TRUE(shows(example_case_of_all_controls(), "plan.sm_target"));
  EXPECT_TRUE(shows(CaseResult{}, "plan.comm_blocks"));
}

TEST(ResultColumns, AnUnshapedPlanHasNoPad) {
  SchemeResult result = example_result("shaped", {}, example_time(1, 1, 1));
  EXPECT_EQ(column("plan.pad_bytes").cell(result, {}), "-");
  result.plan.blocks_per_sm = BlocksPerSm(4);
  EXPECT_EQ(column("plan.pad_bytes").cell(result, {}), "0");
}

TEST(ResultColumns, ZeroHasNoSignAndNonFiniteIsAbsent) {
  SchemeResult result = example_result("x", {}, example_time(1, 1, 1));
  result.metrics.reduction = -0.0004;  // -0.04 % rounds to zero
  EXPECT_EQ(column("reduction").cell(result, {}), "0.0");
  result.metrics.reduction = std::nan("");
  EXPECT_EQ(column("reduction").cell(result, {}), "-");
  result.metrics.reduction = std::numeric_limits<double>::infinity();
  EXPECT_EQ(column("reduction").cell(result, {}), "-");
}

TEST(TableScale, OfAModelThatIsNotFittedHasThreeDigits) {
  const auto time = [](double longest) {
    return format_time(Microseconds(longest), table_scale(case_lasting(longest), example_model()));
  };
  EXPECT_EQ(time(9.86), "9.9");
  EXPECT_EQ(time(99.94), "99.9");
  EXPECT_EQ(time(99.96), "100");
  EXPECT_EQ(time(42'113.4), "42.1");     // ms
  EXPECT_EQ(time(4'200'113.4), "4200");  // ms
}

TEST(TableScale, ChoosesTheUnitByTheLongestTime) {
  EXPECT_EQ(table_scale(case_lasting(999.9), std::nullopt).unit, "us");
  EXPECT_EQ(table_scale(case_lasting(1000), std::nullopt).unit, "ms");
  EXPECT_EQ(format_time(Microseconds(12.3456), table_scale(case_lasting(12.3456), std::nullopt)), "12.346");
  EXPECT_EQ(format_time(Microseconds(999.94), table_scale(case_lasting(999.94), std::nullopt)), "999.94");
  EXPECT_EQ(format_time(Microseconds(42'113.4), table_scale(case_lasting(42'113.4), std::nullopt)), "42.113");
  EXPECT_EQ(format_time(Microseconds(420'113.4), table_scale(case_lasting(420'113.4), std::nullopt)), "420.11");
  EXPECT_EQ(format_time(Microseconds(4'200'113.4), table_scale(case_lasting(4'200'113.4), std::nullopt)), "4200.1");
  EXPECT_EQ(format_time(Microseconds(99'999.7), table_scale(case_lasting(99'999.7), std::nullopt)), "100.00");  // 99.9997 ms
  EXPECT_EQ(format_time(Microseconds(12'345'678.9), table_scale(case_lasting(12'345'678.9), std::nullopt)), "12346");
}

}  // namespace
}  // namespace elbowroom
