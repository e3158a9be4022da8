#include "elbowroom/report/result_document.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "example_document.hpp"
#include "golden.hpp"

namespace elbowroom {
namespace {

using nlohmann::ordered_json;

std::vector<std::string> keys(const ordered_json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) { names.push_back(name); }
  return names;
}

using Names = std::vector<std::string>;

TEST(ResultDocument, IsTheGoldenExample) { expect_golden("result.json", to_json(example_document()) + "\n"); }

TEST(ResultDocument, HasTheContractsFieldsInOrder) {
  const ordered_json document = ordered_json::parse(to_json(example_document()));
  EXPECT_EQ(keys(document), (Names{"schema", "provenance", "backend", "device", "versions", "model", "seed", "cases"}));
  EXPECT_EQ(document["schema"], "elbowroom.result/1");
  const ordered_json& first = document["cases"][0];
  EXPECT_EQ(keys(first), (Names{"scenario", "critical_path_us", "hardware_limit_us", "hardware_limited_by", "compute_alone_us",
                                "comm_alone_us", "results", "refusals"}));
  const ordered_json& result = first["results"][3];
  EXPECT_EQ(keys(result), (Names{"scheme", "plan", "time_us", "time_ratio", "time_ratio_interval", "reduction", "overlap_rate",
                                 "overlap_efficiency", "compute_inflation", "comm_inflation", "limited_by", "note"}));
  EXPECT_EQ(keys(result["plan"]),
            (Names{"blocks_per_sm", "pad_bytes", "priority", "launch_gate", "comm_blocks", "cluster", "sm_target", "comm_threads",
                   "carveout", "comm_sms", "symmetric", "copy_engine", "peer_detour", "windows_only"}));
  EXPECT_EQ(keys(result["time_us"]), (Names{"median", "low", "high", "confidence", "trials"}));
}

TEST(ResultDocument, CarriesTheFigures) {
  const ordered_json result = ordered_json::parse(to_json(example_document()))["cases"][0]["results"][3];
  EXPECT_EQ(result["plan"]["blocks_per_sm"], 5);
  EXPECT_EQ(result["plan"]["pad_bytes"], 38016);
  EXPECT_EQ(result["plan"]["comm_blocks"], nullptr);
  EXPECT_EQ(result["time_us"]["median"], 28000.0);
  EXPECT_DOUBLE_EQ(result["time_ratio"].get<double>(), 0.7);           // 28 / 40
  EXPECT_DOUBLE_EQ(result["overlap_efficiency"].get<double>(), 0.75);  // (40 - 28) / (40 - 24)
  EXPECT_EQ(result["time_ratio_interval"]["high"], 0.705);
  EXPECT_EQ(result["limited_by"], "shared_memory");
}

TEST(ResultDocument, SaysWhetherItWasMeasured) {
  ResultDocument document = example_document();
  EXPECT_EQ(ordered_json::parse(to_json(document))["provenance"], "simulated");
  document.origin.provenance = Provenance::measured;
  EXPECT_EQ(ordered_json::parse(to_json(document))["provenance"], "measured");
}

TEST(ResultDocument, SaysWhatSimulatedTimesRestOn) {
  ResultDocument document = example_document();
  EXPECT_TRUE(ordered_json::parse(to_json(document))["model"].is_null());
  document.origin.device.model = example_model();
  const ordered_json model = ordered_json::parse(to_json(document))["model"];
  EXPECT_EQ(model["basis"], "extrapolated");
  EXPECT_EQ(model["width"], 0.1);
  EXPECT_EQ(model["source"], "nothing was measured on example");
}

TEST(ResultDocument, ScenarioCanBeReadBack) {
  const ResultDocument document = example_document();
  const ordered_json read = ordered_json::parse(to_json(document));
  const auto scenario = parse_scenario(read["cases"][0]["scenario"].dump(), "result.json");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  EXPECT_EQ(Case(*scenario), document.cases[0].what);
}

TEST(ResultDocument, AbsentValuesAreNull) {
  ResultDocument document = example_document();
  CaseResult& result = document.cases[0];
  result.critical_path.reset();
  result.compute_alone.reset();
  result.results[0].metrics = {};
  result.results[0].limited_by.reset();
  const ordered_json read = ordered_json::parse(to_json(document))["cases"][0];
  EXPECT_TRUE(read["critical_path_us"].is_null());
  EXPECT_TRUE(read["compute_alone_us"].is_null());
  for (const char* name : {"time_ratio", "time_ratio_interval", "reduction", "overlap_rate", "overlap_efficiency",
                           "compute_inflation", "comm_inflation", "limited_by", "note"}) {
    EXPECT_TRUE(read["results"][0].at(name).is_null()) << name;
  }
}

TEST(ResultDocument, EmptyListsAreArrays) {
  ResultDocument document{example_origin(), {}};
  EXPECT_TRUE(ordered_json::parse(to_json(document))["cases"].is_array());
  document.origin.versions.clear();
  document.cases.emplace_back();
  const ordered_json read = ordered_json::parse(to_json(document));
  EXPECT_TRUE(read["cases"][0]["results"].is_array());
  EXPECT_TRUE(read["cases"][0]["refusals"].is_array());
  EXPECT_TRUE(read["versions"].is_object());
}

TEST(ResultDocument, InvalidUtf8IsReplaced) {
  ResultDocument document = example_document();
  document.cases[0].refusals[0].reason = "broken \xff\xc3 name";
  std::get<Scenario>(document.cases[0].what).name = "\xfe";
  const ordered_json read = ordered_json::parse(to_json(document), nullptr, false);
  ASSERT_FALSE(read.is_discarded());
  EXPECT_EQ(read["cases"][0]["refusals"][0]["reason"], "broken \xEF\xBF\xBD\xEF\xBF\xBD name");
}

RC_GTEST_PROP(ResultDocument, IsJsonWhateverTheNumbers, ()) {
  const auto any_number =
      rc::gen::oneOf(rc::gen::arbitrary<double>(), rc::gen::element(std::nan(""), std::numeric_limits<double>::infinity(),
                                                                    -std::numeric_limits<double>::infinity(), 0.0, 5e-324));
  ResultDocument document = example_document();
  SchemeResult& result = document.cases[0].results[0];
  const double time = *any_number;
  const double rate = *any_number;
  result.time.median = Microseconds(time);
  result.metrics.overlap_rate = rate;
  const ordered_json read = ordered_json::parse(to_json(document), nullptr, false);
  RC_ASSERT(!read.is_discarded());
  const auto same = [](const ordered_json& written, double value) {
    return std::isfinite(value) ? written.get<double>() == value : written.is_null();
  };
  const ordered_json& written = read["cases"][0]["results"][0];
  RC_ASSERT(same(written["time_us"]["median"], time));
  RC_ASSERT(same(written["overlap_rate"], rate));
}

TEST(BestResult, IsTheFirstOfTheLeastMedians) {
  CaseResult result = example_case();
  EXPECT_EQ(best_result(result), &result.results[3]);
  result.results[1].time.median = result.results[3].time.median;
  EXPECT_EQ(best_result(result), &result.results[1]);
  EXPECT_EQ(best_result(CaseResult{}), nullptr);
  result.refusals.push_back({"copy_engine", "a suite's scheme that cannot act", false});
  EXPECT_NE(best_result(result), nullptr);
  result.refusals.push_back({"plan 1", "what the user asked for", true});
  EXPECT_EQ(best_result(result), nullptr) << "the rest answers another question";
}

}  // namespace
}  // namespace elbowroom
