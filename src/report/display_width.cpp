#include "report/display_width.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace elbowroom::detail {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Unicode's combining marks and joiners, and its wide blocks (EastAsianWidth.txt: W and F), as far as whole blocks go.
constexpr std::array kNoColumn{Range{0x0300, 0x036F}, Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F},
                               Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};
constexpr std::array kTwoColumns{Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},  Range{0xAC00, 0xD7A3},
                                 Range{0xF900, 0xFAFF},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},  Range{0x1F300, 0x1F64F},
                                 Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

template <std::size_t count>
bool among(const std::array<Range, count>& ranges, std::uint32_t character) {
  return std::ranges::any_of(ranges, [&](const Range& range) { return character >= range.first && character <= range.last; });
}

struct Character {
  std::size_t bytes;
  std::size_t columns;
};

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The first one; text is not empty. A byte that begins no character is shown as one.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const auto announced = static_cast<std::size_t>(std::countl_one(lead));
  if (announced < 2 || announced > 4) { return {1, 1}; }
  std::uint32_t character = lead & (0xFFU >> (announced + 1));
  for (std::size_t at = 1; at < announced; ++at) {
    if (at >= text.size() || !continues(text[at])) { return {at, 1}; }
    character = (character << 6U) | (static_cast<unsigned char>(text[at]) & 0x3FU);
  }
  return {announced, among(kNoColumn, character) ? 0U : among(kTwoColumns, character) ? 2U : 1U};
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character first = first_of(text);
    columns += first.columns;
    text.remove_prefix(first.bytes);
  }
  return columns;
}

std::string fitted(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) { return std::string(text); }
  if (columns == 0) { return {}; }
  std::size_t bytes = 0;
  std::size_t taken = 1;  // by the ellipsis
  while (true) {
    const Character next = first_of(text.substr(bytes));
    if (taken + next.columns > columns) { break; }
    taken += next.columns;
    bytes += next.bytes;
  }
  return std::string(text.substr(0, bytes)) + std::string(kEllipsis);
}

}  // namespace elbowroom::detail
