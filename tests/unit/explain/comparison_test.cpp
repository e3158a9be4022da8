#include "explain/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::kAllReduce;
using test::TraceText;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The all-reduce ends at `end`, the second kernel 2 us later; both kernels last 100 us.
Explanation ending(std::int64_t end) {
  TraceText text;
  text.kernel("first_gemm", 7, 100, 200, 90)
      .kernel(kAllReduce, 20, 150, end, 120)
      .kernel("second_gemm", 7, end + 2, end + 102, 130);
  std::vector<Trace> traces;
  traces.push_back(text.trace());
  return explain(std::move(traces));
}

TEST(Comparison, FindsWhatChanged) {
  // 100 us are exposed before, 250 after; nothing else differs.
  const Comparison comparison = compare(ending(300), ending(450));
  EXPECT_EQ(comparison.step.more(), 150);
  EXPECT_EQ(comparison.parts.front().what, "exposed communication");
  EXPECT_EQ(comparison.parts.front().before_us, 100);
  EXPECT_EQ(comparison.parts.front().after_us, 250);
  EXPECT_EQ(comparison.kernels.front().more(), 0);
  EXPECT_EQ(comparison.exposures.at(0).what, "all_reduce, program_order");
  EXPECT_EQ(comparison.exposures.at(0).more(), 150);
  EXPECT_THAT(in_words(comparison),
              StartsWith("A step lasts 452 us instead of 302 us (+49.7 %);\nexposed communication changed most, by +150 us."));
}

TEST(Comparison, SaysWhereNothingChanged) {
  const std::string words = in_words(compare(ending(300), ending(300)));
  EXPECT_EQ(words, "A step lasts 302 us in both; no part changed by a thousandth of it.\n");
}

}  // namespace
}  // namespace elbowroom::explain
