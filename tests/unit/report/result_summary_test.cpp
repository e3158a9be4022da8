#include "elbowroom/report/result_summary.hpp"

#include <gtest/gtest.h>

#include "unit/report/example_document.hpp"

namespace elbowroom {
namespace {

// The example's best scheme takes 28 of 40 ms: 30 % less. The second case's one scheme has no ratio. The third has none that ran.
TEST(ResultSummary, HasALineForEachCaseAndTheSum) {
  ResultDocument document = example_document();
  document.cases.push_back(example_case());
  document.cases.back().results.clear();
  EXPECT_EQ(summary_table(document),
            "# simulated: summary of 3 cases: the scheme of least median time, and its reduction against sequential\n"
            "#   example     shaped_priority  28.000 ms  30.0 %\n"
            "#   example-\xc2\xb5s  tuned            812.50 us       -\n"
            "#   example     no scheme ran            -       -\n"
            "# best: shaped_priority in 1, tuned in 1; median reduction 30.0 %\n");
}

TEST(ResultSummary, NamesNoSchemeWhereWhatWasAskedForWasRefused) {
  ResultDocument document{example_origin(), {example_case()}};
  document.cases.front().refusals.front().asked_for = true;
  EXPECT_EQ(summary_table(document),
            "# simulated: summary of 1 cases: the scheme of least median time, and its reduction against sequential\n"
            "#   example  what was asked for was refused  -  -\n"
            "# best: none\n");
}

}  // namespace
}  // namespace elbowroom
