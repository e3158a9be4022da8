#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents.hpp"

namespace elbowroom::page {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string transfer_text() { return file_text("unit/page/documents/transfer.json"); }

std::string changed_transfer(const std::string& pointer, const json& value) {
  json document = json::parse(transfer_text());
  document[json::json_pointer(pointer)] = value;
  return document.dump();
}

TEST(TransferReader, ShowsRegretsOfAllCasesAsAGrid) {
  const Document document = read(transfer_text());
  EXPECT_EQ(document.provenance, "simulated");
  ASSERT_EQ(document.sections.size(), 3U);
  const Grid* grid = view_of<Grid>(document.sections[0]);
  ASSERT_NE(grid, nullptr);
  EXPECT_EQ(grid->unit, "share");
  EXPECT_EQ(grid->x, (std::vector<Value>{"here.json", "small.json", "wide.json"}));
  EXPECT_EQ(grid->y, (std::vector<Value>{"gelu-ar", "relu-ag"}));
  // wide.json cannot act in the first case; the second knows nothing of here.json.
  EXPECT_EQ(grid->cells, (std::vector<std::vector<Value>>{{0.0, 0.05, Value()}, {Value(), 0.125, 0.0}}));
}

TEST(TransferReader, ShowsEveryScheduleWithWhatItWasMadeFor) {
  const Document document = read(transfer_text());
  const Section& section = document.sections[1];
  EXPECT_EQ(section.title, "gelu-ar");
  const Times* times = view_of<Times>(section);
  ASSERT_NE(times, nullptr);
  ASSERT_EQ(times->rows.size(), 3U);  // what was refused has none
  EXPECT_EQ(times->rows[0].label, "concurrent");
  EXPECT_TRUE(times->rows[0].aside);
  EXPECT_EQ(times->rows[2].detail, "priority, 4 comm blocks");
  EXPECT_EQ(times->rows[2].median, Value(1.05));
  const Table* table = table_of(section, "Every schedule");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows.size(), 4U);
  EXPECT_EQ(table->marked, 1U);
  EXPECT_EQ(table->rows[2][2], Value("ranks 2, stored 4; device h200, stored h100"));
  EXPECT_EQ(table->rows[2][9], Value(0.05));
  EXPECT_EQ(table->rows[3].back(), Value("cluster: 3, expected one of 1, 2"));
}

TEST(TransferReader, OneCaseNeedsNoOverview) {
  json document = json::parse(transfer_text());
  document["cases"].erase(1);
  EXPECT_EQ(read(document.dump()).sections.size(), 1U);
}

TEST(TransferReader, RefusesDamageInOneLine) {
  EXPECT_THAT(refusal_of(changed_transfer("/provenance", "guessed")), HasSubstr("file: provenance: "));
  EXPECT_THAT(refusal_of(changed_transfer("/cases", 7)), HasSubstr("file: cases: "));
  EXPECT_THAT(refusal_of(changed_transfer("/cases/0/best", "fast")), HasSubstr("file: cases[0].best: "));
  EXPECT_THAT(refusal_of(changed_transfer("/cases/0/transferred/0", 7)), HasSubstr("file: cases[0].transferred[0]: "));
  EXPECT_THAT(refusal_of(changed_transfer("/cases/0/transferred/1/profile", 7)), HasSubstr("transferred[1].profile: "));
  EXPECT_THAT(refusal_of(changed_transfer("/cases/0/transferred/1/plan/priority", 3)), HasSubstr("plan.priority: "));
  EXPECT_THAT(refusal_of(changed_transfer("/cases/0/transferred/1/regret", "5 %")), HasSubstr("regret: "));
}

}  // namespace
}  // namespace elbowroom::page
