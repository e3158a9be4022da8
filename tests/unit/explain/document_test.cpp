#include "explain/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "report/display_width.hpp"
#include "unit/explain/json_schema.hpp"
#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::kAllReduce;
using test::TraceText;
using ::testing::HasSubstr;
using ::testing::StartsWith;

nlohmann::json schema() {
  std::ifstream file(ELBOWROOM_SOURCE_DIR "/docs/schemas/explain-1.json");
  return nlohmann::json::parse(file);
}

/// Rank `number` of two: rank 1 begins its all-reduce 60 us later than rank 0.
Trace rank(int number) {
  const std::string note =
      R"("Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, "dtype": "BFloat16", "Process Group Name": "0")";
  TraceText text;
  text.rank(number, 2).device("NVIDIA H100 80GB HBM3", 132).kernel("first_gemm", 7, 100, 200, 90);
  text.kernel(kAllReduce, 20, number == 0 ? 150 : 210, 300, 120, note).kernel("second_gemm", 7, 302, 400, 130);
  return text.trace();
}

Explanation two_ranks() {
  std::vector<Trace> traces;
  for (const int number : {1, 0}) { traces.push_back(rank(number)); }
  return explain(std::move(traces));
}

TEST(ExplainDocument, KeepsToItsSchema) {
  const nlohmann::json document = nlohmann::json::parse(to_json(two_ranks()));
  EXPECT_EQ(test::schema_error(document, schema()), "");
  std::ifstream example(ELBOWROOM_SOURCE_DIR "/tests/unit/page/documents/explain.json");  // with what a later version fills
  EXPECT_EQ(test::schema_error(nlohmann::json::parse(example), schema()), "");
  nlohmann::json other = document;
  other["exposures"][0]["cause"] = "bad luck";
  EXPECT_EQ(test::schema_error(other, schema()), "/exposures/0/cause: none of the words");
  other = document;
  other.erase("idle_us");
  EXPECT_EQ(test::schema_error(other, schema()), "/idle_us: missing");
}

TEST(ExplainDocument, SaysWhatTheTwoRanksDid) {
  const nlohmann::json document = nlohmann::json::parse(to_json(two_ranks()));
  EXPECT_EQ(document["ranks"].size(), 2U);
  EXPECT_EQ(document["device"], "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(document["step_us"]["median"], 300.0);
  // Exposed are 200..300 on rank 0 and 210..300 on rank 1.
  EXPECT_EQ(document["exposed_us"], 95.0);
  EXPECT_EQ(document["rest_us"], 0.0);
  const nlohmann::json& collective = document["collectives"].at(0);
  EXPECT_EQ(collective["collective"], "all_reduce");
  EXPECT_EQ(collective["bytes"], 2 << 20);
  EXPECT_EQ(collective["count"], nlohmann::json::array({1, 1}));
  EXPECT_EQ(collective["transfer_us"], 90.0);
  EXPECT_EQ(collective["waiting_us"], 60.0);
  EXPECT_EQ(document["stragglers"],
            nlohmann::json::parse(R"([{"rank": "1", "last": 1, "of": 1, "waited_us": 60.0, "waited_sum_us": 60.0}])"));
  EXPECT_EQ(document["ranks"][1]["rank"], "1");
  EXPECT_EQ(document["causes"][0]["cause"], "program_order");
}

TEST(ExplainWords, BeginWithASentenceAndFit80Columns) {
  const std::string words = in_words(two_ranks());
  EXPECT_THAT(
      words,
      StartsWith("Communication is exposed 95.0 us of a step of 300 us (31.7 %), 95.0 us of it\nbecause the program waits for it"));
  EXPECT_THAT(words, HasSubstr("rank 1: last to 1 of 1 collectives"));
  EXPECT_THAT(words, HasSubstr("\nwhat if, of the median step of 300 us (the replay misses steps by"));
  std::istringstream lines(words);
  for (std::string line; std::getline(lines, line);) { EXPECT_LE(detail::display_width(line), 80U) << line; }
}

TEST(ExplainWords, NameTheHostWhereItIsLate) {
  TraceText text;
  text.kernel("first", 7, 0, 100, 0).kernel("second", 7, 500, 600, 495);
  std::vector<Trace> traces;
  traces.push_back(text.trace());
  EXPECT_THAT(in_words(explain(std::move(traces))), StartsWith("The GPU waits for the host 400 us of a step of 600 us (66.7 %)"));
}

TEST(ExplainWords, BeginWithComputationWhereItIsMostOfTheStep) {
  TraceText text;
  text.kernel("first", 7, 0, 500, 0).kernel("second", 7, 540, 1000, 535);
  std::vector<Trace> traces;
  traces.push_back(text.trace());
  EXPECT_THAT(in_words(explain(std::move(traces))),
              StartsWith("Computation fills 96.0 % of a step of 1.00 ms; the GPU waits for the host 40.0\nus.\n"));
}

TEST(ExplainWords, SayWhereNothingIsLost) {
  TraceText text;
  text.kernel("first", 7, 0, 100, 0).kernel("second", 7, 100, 200, 1);
  std::vector<Trace> traces;
  traces.push_back(text.trace());
  EXPECT_THAT(in_words(explain(std::move(traces))), StartsWith("Computation fills 100.0 % of a step of 200 us"));
}

TEST(Explanation, PutsPartsOfOneRankTogether) {
  TraceText first, second;
  first.rank(0, 2).kernel("first", 7, 0, 100, 0);
  second.rank(0, 2).kernel("second", 7, 100, 200, 1);
  std::vector<Trace> traces;
  traces.push_back(second.trace());
  traces.push_back(first.trace());
  const Explanation explanation = explain(std::move(traces));
  ASSERT_EQ(explanation.ranks.size(), 1U);
  EXPECT_EQ(explanation.parts.compute, 200.0);
}

}  // namespace
}  // namespace elbowroom::explain
