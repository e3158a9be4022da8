#include "elbowroom/report/sweep_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace elbowroom {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

SweepCell cell(double median) {
  SweepCell made;
  made.plan.priority = true;
  made.time = Summary{Microseconds(median), Microseconds(median - 1), Microseconds(median + 1), 0.95, 10};
  made.ratio = RatioSummary{median / 2000, median / 2000 - 0.01, median / 2000 + 0.01, 0.95, 10};
  return made;
}

/// Caps by block budgets, the least time at 4 blocks/SM and 8 blocks; one cell cannot act and one was not run.
SweepDocument example() {
  SweepDocument document;
  document.origin.backend = "sim";
  document.origin.device.name = "Example GPU";
  document.trials = 10;
  document.plan = "priority";
  Scenario scenario{"gelu-ar",
                    2,
                    8,
                    Pattern::pipeline,
                    Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)},
                    {CollectiveOp::all_reduce, mebibytes(32), DataType::bf16, std::nullopt, std::nullopt}};
  SweepCase swept{scenario, {{"blocks_per_sm", {"off", "4", "6"}}, {"comm_blocks", {"4", "8"}}}, {}};
  swept.cells = {cell(1200), cell(1100), cell(1020),
                 cell(1000), cell(1005), SweepCell{{}, std::nullopt, std::nullopt, "cluster: 4, expected one of 1, 2"}};
  document.cases = {swept};
  return document;
}

SweepDocument without_cells(SweepDocument document) {
  for (SweepCase& swept : document.cases) { swept.cells.assign(swept.cells.size(), std::nullopt); }
  return document;
}

std::string refusal(const std::string& text) {
  SweepDocument document = without_cells(example());
  const Status taken = take_cells(document, text, "file");
  if (!taken) { EXPECT_EQ(document.done(), 0U) << "nothing is taken of a document that is refused"; }
  return taken ? "accepted" : taken.error().message;
}

std::string changed(const std::string& pointer, const json& value) {
  json document = json::parse(to_json(example()));
  document[json::json_pointer(pointer)] = value;
  return document.dump();
}

TEST(SweepDocument, SaysHowFlatTheBestIs) {
  const json document = json::parse(to_json(example()));
  EXPECT_EQ(document["schema"], "elbowroom.sweep/1");
  const json& swept = document["cases"][0];
  EXPECT_EQ(swept["axes"][0]["values"], json({"off", 4, 6}));
  EXPECT_EQ(swept["cells"].size(), 6U);
  EXPECT_EQ(swept["cells"][5]["refused"], "cluster: 4, expected one of 1, 2");
  const json& flatness = swept["flatness"][0];
  EXPECT_EQ(flatness["best"], json({1, 1}));
  EXPECT_EQ(flatness["second"], json({2, 0}));
  EXPECT_NEAR(flatness["second_loss"].get<double>(), 0.005, 1e-12);  // 1005 against 1000
  // Along the caps at 8 blocks: off costs 10 %, 6 is refused. Along the budgets at a cap of 4: 4 blocks cost 2 %.
  EXPECT_EQ(flatness["slack"][2],
            json({{"axis", "blocks_per_sm"}, {"loss", 0.05}, {"from", 4}, {"to", 4}, {"down", 0}, {"up", 0}}));
  EXPECT_EQ(flatness["slack"][3]["from"], 8);
  EXPECT_EQ(flatness["slack"][4], json({{"axis", "comm_blocks"}, {"loss", 0.03}, {"from", 4}, {"to", 8}, {"down", 1}, {"up", 0}}));
}

TEST(SweepDocument, GivesItsCellsBack) {
  SweepDocument document = without_cells(example());
  ASSERT_TRUE(take_cells(document, to_json(example()), "file"));
  EXPECT_EQ(document.cases[0].cells, example().cases[0].cells);
  EXPECT_EQ(document.done(), 6U);
  EXPECT_EQ(to_json(document), to_json(example()));
}

TEST(SweepDocument, MayBeHalf) {
  SweepDocument half = example();
  half.cases[0].cells[2].reset();
  SweepDocument document = without_cells(example());
  ASSERT_TRUE(take_cells(document, to_json(half), "file"));
  EXPECT_EQ(document.done(), 5U);
  EXPECT_FALSE(document.cases[0].cells[2]);
}

TEST(SweepDocument, OfAnotherGridIsRefused) {
  EXPECT_EQ(refusal(to_json(example())), "accepted");
  EXPECT_EQ(refusal(changed("/seed", 2)), "file: seed: 2, expected 1: it is another sweep");
  EXPECT_EQ(refusal(changed("/plan", "")), "file: plan: \"\", expected \"priority\": it is another sweep");
  EXPECT_THAT(refusal(changed("/cases/0/axes/1/values/0", 5)), HasSubstr("file: cases[0].axes: "));
  EXPECT_THAT(refusal(changed("/cases/0/scenario/iterations", 9)), HasSubstr("file: cases[0].scenario: "));
  EXPECT_EQ(refusal(changed("/cases", json::array())), "file: cases: expected 1 of them: it is another sweep");
}

TEST(SweepDocument, ThatIsDamagedIsRefused) {
  const std::string cells = "/cases/0/cells";
  EXPECT_THAT(refusal(""), HasSubstr("file: "));
  EXPECT_THAT(refusal(to_json(example()).substr(0, 900)), HasSubstr("file: not valid JSON"));
  EXPECT_EQ(refusal(changed(cells, 7)), "file: cases[0].cells: expected a list");
  EXPECT_EQ(refusal(changed(cells + "/0", 7)), "file: cases[0].cells[0]: 7, expected an object");
  EXPECT_EQ(refusal(changed(cells + "/0/at", {3, 0})), "file: cases[0].cells[0].at: [3,0], expected a position on each axis");
  EXPECT_EQ(refusal(changed(cells + "/0/at", {-1, 0})), "file: cases[0].cells[0].at: [-1,0], expected a position on each axis");
  EXPECT_EQ(refusal(changed(cells + "/1/at", {0, 0})), "file: cases[0].cells[1].at: [0,0], expected each cell once");
  EXPECT_THAT(refusal(changed(cells + "/0/time_us/median", -1)), HasSubstr("file: cases[0].cells[0].time_us: "));
  EXPECT_THAT(refusal(changed(cells + "/0/time_us/low", 1e9)), HasSubstr("file: cases[0].cells[0].time_us: "));
  EXPECT_THAT(refusal(changed(cells + "/0/ratio", nullptr)), HasSubstr("file: cases[0].cells[0].ratio: "));
  EXPECT_THAT(refusal(changed(cells + "/0/plan/priority", 3)), HasSubstr("file: cases[0].cells[0].plan.priority: "));
  EXPECT_THAT(refusal(changed(cells + "/0/speed", 3)), HasSubstr("file: cases[0].cells[0].\"speed\""));
}

TEST(SweepTable, IsAGridWithWhatTheBestIsWorth) {
  const std::string table = to_table(example().cases[0], example().origin);
  EXPECT_THAT(table, HasSubstr("# medians in ms, blocks_per_sm down, comm_blocks across\n"
                               "#            4        8\n"
                               "  off    1.200    1.100\n"
                               "    4    1.020    1.000\n"
                               "    6    1.005  refused\n"));
  EXPECT_THAT(table,
              HasSubstr("# best blocks_per_sm=4, comm_blocks=8: 1.000 ms, 0.500 of two plain streams; second blocks_per_sm=6, "
                        "comm_blocks=4: 0.50 % more\n"));
  EXPECT_THAT(table, HasSubstr("#   comm_blocks; within 1 %: 8 to 8; within 3 %: 4 to 8; within 5 %: 4 to 8\n"));
  EXPECT_THAT(table, HasSubstr("# refused: cluster: 4, expected one of 1, 2\n"));
}

}  // namespace
}  // namespace elbowroom
