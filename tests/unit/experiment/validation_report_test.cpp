#include "elbowroom/experiment/validation_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace elbowroom {
namespace {

using ::testing::HasSubstr;

Validation one_row() {
  Validation validation;
  // 11 of 10 ms: 10 % too long.
  validation.absolute.rows = {{"gemm beside all_reduce", "concurrent", true, 4, Microseconds(10'000), Microseconds(11'000)}};
  validation.absolute.median_error = validation.absolute.p90_error = validation.absolute.worst_error = 0.1;
  validation.absolute.groups = 1;
  validation.absolute.best_pick_rate = 1;
  return validation;
}

TEST(ValidationReport, HasALineForEachRow) {
  const std::string table = to_table(one_row(), "rows.csv", "h200");
  EXPECT_THAT(table, HasSubstr("# elbowroom: simulated h200 against measured rows of rows.csv\n"));
  EXPECT_THAT(table, HasSubstr("# gemm beside all_reduce\n"));
  EXPECT_THAT(table, HasSubstr("  concurrent        yes             4        10.000         11.000    +10.00\n"));
  EXPECT_THAT(table, HasSubstr("# 1 rows: median error 10.00 %, 90th percentile 10.00 %, worst 10.00 %\n"));
}

TEST(ValidationReport, HasTheSumsAsADocument) {
  const nlohmann::json document = nlohmann::json::parse(to_json(one_row()));
  EXPECT_EQ(document["schema"], "elbowroom.validation/1");
  EXPECT_EQ(document["given_isolated"]["rows"], 0);
  EXPECT_EQ(document["absolute"]["rows"], 1);
  EXPECT_EQ(document["absolute"]["worst_error"], 0.1);
}

}  // namespace
}  // namespace elbowroom
