#include "explain/brackets.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elbowroom::explain {
namespace {

#ifdef __SSE2__
constexpr bool kByBlocks = true;
#else
constexpr bool kByBlocks = false;
#endif

/// Byte by byte, of a text without backslashes whose first byte is inside of one bracket.
std::optional<std::size_t> reference(const std::string& text) {
  bool in_string = false;
  std::size_t depth = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') { in_string = !in_string; }
    if (in_string) { continue; }
    if (c == '{' || c == '[') { ++depth; }
    if ((c == '}' || c == ']') && --depth == 0) { return at + 1; }
  }
  return std::nullopt;
}

RC_GTEST_PROP(Brackets, EndWhereALookAtEachByteSaysSo, (const std::vector<unsigned char>& bytes)) {
  constexpr std::string_view letters = "\"{}[]{[ a,1Z;\x7f\x5c";
  std::string text;
  for (int times = 0; times < 8; ++times) {
    for (const unsigned char byte : bytes) { text += letters[byte % (letters.size() - 1)]; }  // no backslash
  }
  const std::size_t blocks = text.size() / 64 * 64;
  const std::optional<std::size_t> expected = reference(text.substr(0, blocks));
  Bracketed from{0, 1};
  const std::optional<std::size_t> found = behind_brackets(text, from);
  if (kByBlocks) {
    RC_ASSERT(found == expected);
    RC_ASSERT(from.at <= blocks);
  }
  // What is left leads to the same end.
  if (!found) {
    std::string rest = text.substr(from.at);
    for (std::size_t level = 1; level < from.depth; ++level) { rest.insert(0, "["); }
    const std::optional<std::size_t> whole = reference(text);
    const std::optional<std::size_t> later = reference(rest);
    RC_ASSERT(whole.has_value() == later.has_value());
    if (whole) { RC_ASSERT(*later - (from.depth - 1) + from.at == *whole); }
  }
}

TEST(Brackets, AreLookedForUpToABackslashAndNoFurther) {
  // 64 bytes: depth 3 behind them. The next 64 have a backslash.
  const std::string text = std::string("[{") + std::string(62, ' ') + "\"\\\"}\"}]}" + std::string(100, ' ');
  Bracketed from{0, 1};
  EXPECT_FALSE(behind_brackets(text, from));
  if (kByBlocks) {
    EXPECT_EQ(from.at, 64);
    EXPECT_EQ(from.depth, 3);
  }
}

TEST(Brackets, AStringThatGoesOnIsBegunAnew) {
  // The string begins at byte 60 and goes on beyond 128 bytes; its brackets do not count.
  const std::string text = std::string(60, ' ') + "\"" + std::string(70, '}');
  Bracketed from{0, 1};
  EXPECT_FALSE(behind_brackets(text, from));
  if (kByBlocks) { EXPECT_EQ(from.at, 60); }
  EXPECT_EQ(from.depth, 1);
}

}  // namespace
}  // namespace elbowroom::explain
