#include "report/display_width.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace elbowroom::detail {
namespace {

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("gelu-ar"), 7U);
  EXPECT_EQ(display_width("\xC3\xBC\xC2\xB7"), 2U);          // u with dots, middle dot: two bytes each
  EXPECT_EQ(display_width("u\xCC\x88"), 1U);                 // u and dots above it
  EXPECT_EQ(display_width("\xE6\xBC\xA2\xE5\xAD\x97"), 4U);  // two Chinese characters
  EXPECT_EQ(display_width("\xF0\x9F\x9A\x80"), 2U);          // a rocket
  EXPECT_EQ(display_width("\xFF\x80\xE6"), 3U);              // no UTF-8: a column for each byte
}

TEST(Fitted, EndsWithAnEllipsisWhereItIsCut) {
  EXPECT_EQ(fitted("timing", 6), "timing");
  EXPECT_EQ(fitted("timing", 5), "timi\xE2\x80\xA6");
  EXPECT_EQ(fitted("timing", 1), "\xE2\x80\xA6");
  EXPECT_EQ(fitted("timing", 0), "");
  // Two columns are left beside the ellipsis, one of them taken: half a character does not fit.
  EXPECT_EQ(fitted("a\xE6\xBC\xA2\xE5\xAD\x97", 3), "a\xE2\x80\xA6");
  EXPECT_EQ(fitted("a\xE6\xBC\xA2\xE5\xAD\x97", 4), "a\xE6\xBC\xA2\xE2\x80\xA6");
}

RC_GTEST_PROP(Fitted, IsNeverWiderThanAsked, (const std::string& text, std::uint8_t columns)) {
  const std::string cut = fitted(text, columns);
  RC_ASSERT(display_width(cut) <= columns);
  if (display_width(text) <= columns) { RC_ASSERT(cut == text); }
}

}  // namespace
}  // namespace elbowroom::detail
