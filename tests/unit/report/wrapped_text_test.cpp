#include "report/wrapped_text.hpp"

#include <gtest/gtest.h>

namespace elbowroom::detail {
namespace {

TEST(WrappedText, BreaksBetweenWords) {
  // "-> one two" has 10 columns; " three" would make 16.
  EXPECT_EQ(wrapped("-> ", "one two three", 3, 12), "-> one two\n   three\n");
  EXPECT_EQ(wrapped("-> ", "one two three", 3, 16), "-> one two three\n");
  EXPECT_EQ(wrapped("-> ", "one two three", 3, 15), "-> one two\n   three\n");
}

TEST(WrappedText, KeepsALongWordWhole) {
  EXPECT_EQ(wrapped("", "/a/long/path one", 2, 8), "/a/long/path\n  one\n");
  EXPECT_EQ(wrapped("name  ", "", 6, 80), "name  \n");
}

}  // namespace
TEST(FoldedText, LongLinesGoOnFurtherIn) {
  // Twelve columns: "  alpha beta" has 12, "gamma" would be the 18th.
  EXPECT_EQ(folded("  alpha beta gamma\nshort\n", 12), "  alpha beta\n    gamma\nshort\n");
  EXPECT_EQ(folded("# alpha beta gamma\n", 12), "# alpha beta\n#   gamma\n");
  EXPECT_EQ(folded("fits exactly", 12), "fits exactly");
  EXPECT_EQ(folded("a-word-that-is-longer b\n", 12), "a-word-that-is-longer\n  b\n");
  EXPECT_EQ(folded("", 12), "");
}

}  // namespace elbowroom::detail
