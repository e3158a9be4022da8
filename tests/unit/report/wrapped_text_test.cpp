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
}  // namespace elbowroom::detail
