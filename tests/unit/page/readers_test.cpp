#include "page/readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "documents.hpp"

namespace elbowroom::page {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> titles(const Document& document) {
  std::vector<std::string> all;
  for (const Section& section : document.sections) { all.push_back(section.title); }
  return all;
}

Value fact(const Document& document, const std::string& name) {
  const auto found = std::ranges::find(document.facts, name, &Fact::name);
  return found == document.facts.end() ? Value() : found->value;
}

TEST(Readers, KnowEverySchemaOnce) {
  for (const Reader& reader : readers()) {
    EXPECT_EQ(std::ranges::count(readers(), reader.schema, &Reader::schema), 1) << reader.schema;
  }
}

TEST(Readers, NameWhatTheyKnowWhereADocumentIsNoneOfIt) {
  EXPECT_THAT(refusal_of(""), HasSubstr("file: empty, expected one of elbowroom.result/1, elbowroom.tune/1, "));
  EXPECT_THAT(refusal_of("import torch\n"), HasSubstr("file: no document with a schema, expected one of "));
  EXPECT_THAT(refusal_of(R"({"schema": "elbowroom.profile/1", "choices": []})"),
              HasSubstr("file: schema: \"elbowroom.profile/1\", expected one of "));
  EXPECT_THAT(refusal_of("<!-- elbowroom.page/1 -->\n<!doctype html>"),
              HasSubstr("file: schema: \"elbowroom.page/1\", expected one of "));
}

TEST(Result, ShowsWhereItComesFrom) {
  const Document document = read(result_text());
  EXPECT_EQ(document.schema, "elbowroom.result/1");
  EXPECT_EQ(document.provenance, "simulated");
  EXPECT_EQ(fact(document, "device"), "2 x Example GPU (example, sm_00, 10 SMs)");
  EXPECT_EQ(fact(document, "versions"), "driver 1.2, nccl 0.0.1");
  EXPECT_EQ(fact(document, "seed"), 7);
  EXPECT_TRUE(fact(document, "model").is_null());
}

TEST(Result, ShowsTheDocumentsNumbersAsTheyAre) {
  const Document document = read(result_text());
  ASSERT_THAT(titles(document), ElementsAre("All cases", "example", "example-µs"));
  EXPECT_EQ(document.sections[1].line,
            "2 GPUs, 8 iterations, pipeline; elementwise gelu f32 4G; all_reduce bf16 512M, 8 comm blocks");
  const Times* times = view_of<Times>(document.sections[1]);
  ASSERT_NE(times, nullptr);
  const json results = json::parse(result_text())["cases"][0]["results"];
  ASSERT_GE(times->rows.size(), results.size());
  for (std::size_t row = 0; row < results.size(); ++row) {
    EXPECT_EQ(json(times->rows[row].median), results[row]["time_us"]["median"]);
    EXPECT_EQ(json(times->rows[row].low), results[row]["time_us"]["low"]);
    EXPECT_EQ(json(times->rows[row].trials), results[row]["time_us"]["trials"]);
  }
  EXPECT_EQ(times->references[0].value, 24000.0);
  const Table* table = table_of(document.sections[1], "Every figure");
  ASSERT_NE(table, nullptr);
  for (std::size_t row = 0; row < results.size(); ++row) {
    for (std::size_t column = 0; column < table->columns.size(); ++column) {
      std::string pointer = "/" + table->columns[column].tag;
      std::ranges::replace(pointer, '.', '/');
      EXPECT_EQ(json(table->rows[row][column]), results[row].value(json::json_pointer(pointer), json())) << pointer;
    }
  }
}

TEST(Result, IsReadThoughThisVersionWouldRefuseItsScenario) {
  const Document document = read(result_text());
  EXPECT_EQ(document.sections.at(2).title, "example-µs");
  EXPECT_EQ(document.sections[2].line,
            "a scenario that this version would refuse: compute.grid[1]: 1024, expected 1 to 128 (tiles along m)");
}

TEST(Result, MarksTheLeastMedian) {
  json document = json::parse(result_text());
  for (json& result : document["cases"][0]["results"]) { result["time_us"]["median"] = 50000.0; }
  document["cases"][0]["results"][1]["time_us"]["median"] = 20000.5;
  const Document shown = read(document.dump());
  const Times* times = view_of<Times>(shown.sections[1]);
  const auto marked = std::ranges::find(times->rows, true, &Timed::marked);
  EXPECT_EQ(marked - times->rows.begin(), 1);
  EXPECT_EQ(table_of(shown.sections[1], "Every figure")->marked, 1U);
}

TEST(Result, ShowsASweepAcrossCasesAsAGrid) {
  // The example's case once with 8 and once with 16 comm blocks, each under `priority` with residencies 1 to 3.
  json document = json::parse(result_text());
  json one = document["cases"][0];
  json row = one["results"][2];
  row["scheme"] = "shaped_priority";
  one["results"] = json::array();
  for (const int residency : {1, 2, 3}) {
    row["plan"]["blocks_per_sm"] = residency;
    row["plan"]["comm_blocks"] = nullptr;
    row["time_us"]["median"] = 100.0 * residency;
    one["results"].push_back(row);
  }
  document["cases"] = json::array();
  for (const int blocks : {8, 16}) {
    one["scenario"]["name"] = "blocks-" + std::to_string(blocks);
    one["scenario"]["collective"]["comm_blocks"] = blocks;
    document["cases"].push_back(one);
  }
  const Document shown = read(document.dump());
  ASSERT_THAT(titles(shown), ElementsAre("All cases", "Across cases", "blocks-8", "blocks-16"));
  const Grid* grid = view_of<Grid>(shown.sections[1]);
  ASSERT_NE(grid, nullptr);
  EXPECT_EQ(grid->x_name, "blocks_per_sm");
  EXPECT_EQ(grid->y_name, "comm_blocks");
  EXPECT_EQ(grid->y, (std::vector<Value>{8, 16}));
  EXPECT_EQ(grid->cells, (std::vector<std::vector<Value>>{{100.0, 200.0, 300.0}, {100.0, 200.0, 300.0}}));
}

TEST(Result, NamesTheFieldThatIsWrong) {
  const auto damaged = [](const char* pointer, json value) {
    json document = json::parse(result_text());
    document[json::json_pointer(pointer)] = std::move(value);
    return refusal_of(document.dump());
  };
  EXPECT_EQ(damaged("/provenance", "guessed"), "file: provenance: \"guessed\", expected measured or simulated");
  EXPECT_EQ(damaged("/cases", 3), "file: cases: 3, expected an array");
  EXPECT_EQ(damaged("/cases/0/results/1", 3), "file: cases[0].results[1]: 3, expected an object");
  EXPECT_EQ(damaged("/cases/0/results/1/time_us/median", "fast"),
            "file: cases[0].results[1].time_us.median: \"fast\", expected a finite number or null");
  EXPECT_EQ(damaged("/cases/0/results/1/time_us/median", nullptr),
            "file: cases[0].results[1].time_us.median: null, expected a finite number");
  EXPECT_EQ(damaged("/cases/0/results/1/plan/priority", 3), "file: cases[0].results[1].plan.priority: 3, expected true or false");
  EXPECT_EQ(damaged("/cases/0/scenario/name", 1), "file: cases[0].scenario.name: 1, expected a text");
  EXPECT_EQ(damaged("/device/count", -2), "file: device.count: -2, expected a whole number from 0 to 2^53");
}

TEST(Tune, ShowsTheSearchAndWhatWasChosen) {
  const Document document = read(tune_text());
  EXPECT_EQ(fact(document, "model"), "made up for tests");
  EXPECT_EQ(fact(document, "without"), "symmetric");
  const Search* search = view_of<Search>(document.sections.at(0));
  ASSERT_NE(search, nullptr);
  ASSERT_EQ(search->tried.size(), 3U);
  EXPECT_EQ(search->tried[0].label, "priority: priority");
  EXPECT_FALSE(search->tried[0].chosen);
  EXPECT_TRUE(search->tried[1].chosen);
  EXPECT_EQ(search->tried[1].high, 18010.5);
  EXPECT_TRUE(search->tried[2].median.is_null());
  EXPECT_EQ(search->tried[2].dropped, "launch_gate: true, expected false");
  const Times* afresh = view_of<Times>(document.sections[0]);
  ASSERT_NE(afresh, nullptr);
  EXPECT_EQ(afresh->rows.at(0).times, (std::vector<Value>{18000.0, 18010.5, 17990.0}));
  EXPECT_EQ(table_of(document.sections[0], "Every candidate")->marked, 1U);
}

TEST(Run, ShowsWhatWasComparedAndWhatWasDone) {
  const Document document = read(run_text());
  EXPECT_EQ(fact(document, "command"), "python3 train.py --name 'two words'");
  EXPECT_THAT(titles(document), ElementsAre("energy", "process 41", "all processes"));
  const Times* gains = view_of<Times>(document.sections[1]);
  ASSERT_NE(gains, nullptr);
  ASSERT_EQ(gains->rows.size(), 2U);  // a plain step gains nothing over itself
  EXPECT_TRUE(gains->rows[1].marked);
  EXPECT_EQ(gains->rows[1].median, 9.82);
  EXPECT_EQ(table_of(document.sections[1], "Buffers on symmetric memory")->rows.size(), 2U);
  const Table* kernels = table_of(document.sections[2], "Kernels that could run beside a collective");
  ASSERT_NE(kernels, nullptr);
  EXPECT_EQ(kernels->rows[0][3].dump(), "384");
  EXPECT_EQ(table_of(document.sections[2], "Reports that could not be read")->rows.size(), 1U);
}

TEST(Run, SaysWhereNothingWasMeasured) {
  EXPECT_EQ(read(run_text()).provenance, "measured");
  const Document nothing = read(R"({"schema": "elbowroom.run/1", "provenance": "measured", "energy": null,
    "closing": "elbowroom: nothing changed: no CUDA driver here", "processes": [], "total": {}})");
  EXPECT_EQ(nothing.provenance, "nothing measured");
  EXPECT_EQ(fact(nothing, "closing line"), "elbowroom: nothing changed: no CUDA driver here");
  EXPECT_EQ(nothing.sections.back().line, "no process reported; nothing was measured");
  const Document untimed = read(R"({"schema": "elbowroom.run/1", "provenance": "measured", "total": {}, "processes": [
    {"pid": 1, "ab": {"state": "trying", "arms": []}, "symmetric_memory": {"buffers": [{"what": "a", "ordinary_ms": null}]}}]})");
  EXPECT_EQ(untimed.provenance, "nothing measured");
  const Document timed = read(R"({"schema": "elbowroom.run/1", "provenance": "measured", "total": {}, "processes": [
    {"pid": 1, "symmetric_memory": {"buffers": [{"what": "a", "ordinary_ms": 40.1}]}}]})");
  EXPECT_EQ(timed.provenance, "measured");
}

TEST(Validation, SaysWhatIsComparedWithWhat) {
  const Document document = read(validation_text());
  EXPECT_EQ(document.provenance, "simulated against measured");
  EXPECT_EQ(std::get<Figures>(document.sections.at(0).views.at(1)).figures.at(1).value, 0.042);
  EXPECT_EQ(refusal_of(R"({"schema": "elbowroom.validation/1"})"), "file: given_isolated: missing, expected an object");
}

TEST(Explain, KeepsChangesThatAreSimulatedApart) {
  const Document document = read(explain_text());
  const auto* changes = std::get_if<Times>(&document.sections.at(0).views.at(1));
  ASSERT_NE(changes, nullptr);
  ASSERT_EQ(changes->rows.size(), 1U);
  EXPECT_EQ(changes->rows[0].provenance, "simulated");
  EXPECT_EQ(table_of(document.sections[0], "Changes that cannot act")->rows[0][1], "cluster launch");
}

TEST(Explain, ShowsCausesAndWhoComesLast) {
  const Document document = read(explain_text());
  const Table* causes = table_of(document.sections[0], "What shows the causes");
  ASSERT_NE(causes, nullptr);
  EXPECT_EQ(causes->rows.at(0).at(0), "program_order");
  EXPECT_EQ(causes->rows.at(0).at(3), "all_reduce");
  EXPECT_EQ(table_of(document.sections[0], "Who comes last")->rows.at(0).at(0), "1");
  EXPECT_EQ(table_of(document.sections[0], "Collectives, medians")->rows.size(), 1U);
  const Table* ranks = table_of(document.sections[0], "Ranks");
  ASSERT_NE(ranks, nullptr);
  EXPECT_EQ(ranks->rows.size(), 2U);
  EXPECT_EQ(ranks->rows.at(1).at(0), "1");
}

/// Cuts a document at each of 60 places, and puts a number, a text and null in the place of each of its values.
void expect_one_line_each(const std::string& text, const std::string& what) {
  for (std::size_t part = 0; part < 60; ++part) {
    const std::string message = refusal_of(text.substr(0, text.size() * part / 60));
    ASSERT_TRUE(message.starts_with("file: ")) << what << ", cut at " << part;
    ASSERT_EQ(message.find('\n'), std::string::npos) << what << ", cut at " << part;
  }
  const json whole = json::parse(text);
  const json flat = whole.flatten();
  std::map<std::string, int> alike;  // members of arrays' elements: the first two
  for (const auto& [pointer, value] : flat.items()) {
    std::string member;
    std::ranges::copy_if(pointer, std::back_inserter(member), [](char letter) { return letter < '0' || letter > '9'; });
    if (++alike[member] > 2) { continue; }
    for (const json& other : {json(-1e300), json("word"), json(), json::array({json::array()})}) {
      json damaged = whole;
      damaged[json::json_pointer(pointer)] = other;
      const Result<Document> read = read_document(damaged.dump(), "file");
      if (read.ok()) {
        continue;  // some members may be anything
      }
      ASSERT_TRUE(read.error().message.starts_with("file: ")) << pointer << ": " << read.error().message;
      ASSERT_EQ(read.error().message.find('\n'), std::string::npos) << pointer;
    }
  }
}

TEST(Readers, AnswerDamageInOneLine) {
  expect_one_line_each(result_text(), "result");
  expect_one_line_each(trace_text(), "trace");
  expect_one_line_each(tune_text(), "tune");
  expect_one_line_each(run_text(), "run");
  expect_one_line_each(validation_text(), "validation");
  expect_one_line_each(explain_text(), "explain");
}

}  // namespace
}  // namespace elbowroom::page
