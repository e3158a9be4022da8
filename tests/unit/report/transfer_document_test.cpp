#include "elbowroom/report/transfer_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace elbowroom {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

ComparedTime compared_to_1000(double median) {
  return {Summary{Microseconds(median), Microseconds(median - 10), Microseconds(median + 10), 0.95, 10},
          RatioSummary{median / 1000, median / 1000 - 0.01, median / 1000 + 0.01, 0.95, 10}};
}

/// The best takes 1000 us; what was chosen at half the size takes 1050 us, which is 5 % more; a third plan cannot act.
TransferDocument example_transfer() {
  TransferDocument document;
  document.origin.backend = "sim";
  document.origin.device.name = "Example GPU";
  document.trials = 10;
  TransferCase found;
  found.scenario = {"gelu-ar",
                    2,
                    8,
                    Pattern::pipeline,
                    Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)},
                    {CollectiveOp::all_reduce, mebibytes(32), DataType::bf16, std::nullopt, std::nullopt}};
  OverlapPlan urgent;
  urgent.priority = true;
  OverlapPlan few = urgent;
  few.comm_blocks = Blocks(4);
  found.best = "here.json";
  found.best_plan = urgent;
  found.best_time = compared_to_1000(1000).time;
  found.baselines = {{Scheme::concurrent, {}, compared_to_1000(1200)}};
  found.transferred = {
      {"here.json", Scheme::tuned, urgent, {}, compared_to_1000(1000), std::nullopt},
      {"small.json", Scheme::tuned, few, {"ranks 2, stored 4", "device h200, stored h100"}, compared_to_1000(1050), std::nullopt},
      {"odd|.json", Scheme::tuned, {}, {"ranks 2, stored 8"}, std::nullopt, "cluster: 3, expected one of 1, 2"}};
  document.cases = {found};
  return document;
}

TEST(TransferDocument, SaysWhatEachPlanCostsAndWhatItWasMadeFor) {
  const json document = json::parse(to_json(example_transfer()));
  EXPECT_EQ(document["schema"], "elbowroom.transfer/1");
  EXPECT_EQ(document["provenance"], "simulated");
  EXPECT_EQ(document["trials"], 10);
  const json& found = document["cases"][0];
  EXPECT_EQ(found["best"]["of"], "here.json");
  EXPECT_EQ(found["best"]["time_us"]["median"], 1000);
  EXPECT_EQ(found["knows_its_own"], true);
  EXPECT_NEAR(found["baselines"][0]["regret"].get<double>(), 0.2, 1e-12);
  const json& small = found["transferred"][1];
  EXPECT_EQ(small["profile"], "small.json");
  EXPECT_EQ(small["differs"], json({"ranks 2, stored 4", "device h200, stored h100"}));
  EXPECT_EQ(small["plan"]["comm_blocks"], 4);
  EXPECT_NEAR(small["regret"].get<double>(), 0.05, 1e-12);  // 1050 / 1000 - 1
  EXPECT_NEAR(small["ratio"]["low"].get<double>(), 1.04, 1e-12);
  EXPECT_EQ(found["transferred"][2],
            json({{"profile", "odd|.json"}, {"differs", {"ranks 2, stored 8"}}, {"refused", "cluster: 3, expected one of 1, 2"}}));
}

TEST(TransferTable, SaysRegretInPercentBesideItsInterval) {
  const TransferDocument document = example_transfer();
  const std::string table = to_table(document.cases[0], document.origin);
  EXPECT_THAT(table, HasSubstr("# simulated: gelu-ar: 2 GPUs"));
  EXPECT_THAT(table, HasSubstr("# best here: here.json, 1.000 ms"));
  EXPECT_THAT(table, HasSubstr("      1.050      5.00       4.00..6.00  small.json  priority, 4 comm blocks\n"));
  EXPECT_THAT(table, HasSubstr("      1.200     20.00     19.00..21.00  concurrent  concurrent\n"));
  EXPECT_THAT(table, HasSubstr("# here.json: made for this case\n"));
  EXPECT_THAT(table, HasSubstr("# small.json: made for ranks 2, stored 4; device h200, stored h100\n"));
  EXPECT_THAT(table, HasSubstr("# odd|.json: refused: cluster: 3, expected one of 1, 2\n"));
  EXPECT_THAT(table, Not(HasSubstr("the best of all may be better")));
}

TEST(TransferTable, SaysWhereTheBestIsOnlyTheBestOfWhatCameAlong) {
  TransferDocument document = example_transfer();
  document.cases[0].transferred.erase(document.cases[0].transferred.begin());
  EXPECT_THAT(to_table(document.cases[0], document.origin), HasSubstr("the best of all may be better"));
  EXPECT_THAT(to_markdown(document), HasSubstr("| gelu-ar \\* | "));
  EXPECT_EQ(json::parse(to_json(document))["cases"][0]["knows_its_own"], false);
}

TEST(TransferMarkdown, IsOneTableOfCasesAndProfiles) {
  const std::string table = to_markdown(example_transfer());
  EXPECT_THAT(table, HasSubstr("<!-- elbowroom.markdown/1 -->\n\nsimulated for 1 x Example GPU"));
  EXPECT_THAT(table, HasSubstr("| gelu-ar | here.json | 1.000 | small.json | priority, 4 comm blocks | "
                               "ranks 2, stored 4; device h200, stored h100 | 1.050 | 5.00 | 4.00..6.00 |\n"));
  EXPECT_THAT(table, HasSubstr("| gelu-ar | here.json | 1.000 | odd\\|.json | refused: cluster: 3, expected one of 1, 2 | "
                               "ranks 2, stored 8 | | | |\n"));
}

}  // namespace
}  // namespace elbowroom
