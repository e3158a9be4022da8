#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents.hpp"

namespace elbowroom::page {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string sweep_text() { return file_text("unit/page/documents/sweep.json"); }

std::string changed(const std::string& pointer, const json& value) {
  json document = json::parse(sweep_text());
  document[json::json_pointer(pointer)] = value;
  return document.dump();
}

const Grid* grid_of(const Section& section, const std::string& unit) {
  for (const auto& view : section.views) {
    const auto* grid = std::get_if<Grid>(&view);
    if (grid != nullptr && grid->unit == unit) { return grid; }
  }
  return nullptr;
}

TEST(SweepReader, ShowsTimesAndRatiosAsGrids) {
  const Document document = read(sweep_text());
  EXPECT_EQ(document.provenance, "simulated");
  ASSERT_EQ(document.sections.size(), 2U);
  const Grid* times = grid_of(document.sections[0], "us");
  ASSERT_NE(times, nullptr);
  EXPECT_EQ(times->x_name, "comm_blocks");
  EXPECT_EQ(times->y_name, "blocks_per_sm");
  EXPECT_EQ(times->x, (std::vector<Value>{4, 8, 16}));
  EXPECT_EQ(times->y, (std::vector<Value>{"off", 4}));
  // The second row's middle cell was refused, three were not run.
  EXPECT_EQ(times->cells, (std::vector<std::vector<Value>>{{1200.5, Value(), Value()}, {Value(), Value(), 1000.25}}));
  const Grid* ratios = grid_of(document.sections[0], "");
  ASSERT_NE(ratios, nullptr);
  EXPECT_EQ(ratios->cells[1][2], Value(0.84));
}

TEST(SweepReader, ShowsHowFlatTheBestIsAndWhatWasRefused) {
  const Document document = read(sweep_text());
  const Table* flatness = table_of(document.sections[0], "How flat the best is");
  ASSERT_NE(flatness, nullptr);
  EXPECT_EQ(flatness->rows, (std::vector<std::vector<Value>>{{"blocks_per_sm 4, comm_blocks 16", "blocks_per_sm off, comm_blocks 4",
                                                              0.2, "blocks_per_sm", 0.01, 4, 4}}));
  const Table* cells = table_of(document.sections[0], "Every cell");
  ASSERT_NE(cells, nullptr);
  ASSERT_EQ(cells->rows.size(), 3U);
  EXPECT_EQ(cells->rows[2].back(), "cluster: 4, expected one of 1, 2");
}

TEST(SweepReader, ShowsOneAxisAsARow) {
  const Document document = read(sweep_text());
  const Times* row = view_of<Times>(document.sections[1]);
  ASSERT_NE(row, nullptr);
  ASSERT_EQ(row->rows.size(), 1U);
  EXPECT_EQ(row->rows[0].label, "collective.bytes 64M");
  EXPECT_EQ(row->rows[0].median, Value(7.5));
}

TEST(SweepReader, LeavesOutWhatLiesOnNoAxis) {
  for (const json& at :
       {json::array({2, 0}), json::array({-1, 0}), json::array({0}), json::array({0, 0, 0}), json::array({0.5, 0})}) {
    EXPECT_EQ(table_of(read(changed("/cases/0/cells/0/at", at)).sections[0], "Every cell")->rows.size(), 2U) << at;
  }
}

TEST(SweepReader, RefusesDamageInOneLine) {
  EXPECT_THAT(refusal_of(changed("/provenance", "guessed")), HasSubstr("file: provenance: "));
  EXPECT_THAT(refusal_of(changed("/cases", 7)), HasSubstr("file: cases: "));
  EXPECT_THAT(refusal_of(changed("/cases/0/axes", 7)), HasSubstr("axes"));
  EXPECT_THAT(refusal_of(changed("/cases/0/axes/0/values", json(std::vector<int>(65, 1)))), HasSubstr("at most 64 values"));
  EXPECT_THAT(refusal_of(changed("/cases/0/cells/0/time_us/median", "fast")), HasSubstr("median"));
}

}  // namespace
}  // namespace elbowroom::page
