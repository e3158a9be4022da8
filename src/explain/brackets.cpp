#include "explain/brackets.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace elbowroom::explain {

#ifdef __SSE2__
namespace {

constexpr std::size_t kBlock = 64;

/// A bit for each byte of a block.
struct Marks {
  std::uint64_t quotes = 0;
  std::uint64_t brackets = 0;
  bool slashes = false;  ///< any
};

__m128i equal(__m128i bytes, char to) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(to)); }

std::uint64_t bits_of(__m128i mask) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(mask))); }

Marks marks_of(const char* block) {
  constexpr std::size_t step = 16;
  Marks marks;
  __m128i slashes = _mm_setzero_si128();
  for (std::size_t part = 0; part < kBlock; part += step) {
    __m128i bytes = _mm_setzero_si128();
    std::memcpy(&bytes, block + part, step);
    // Brackets and braces differ by this bit, and no other byte becomes one.
    const __m128i braces = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    marks.quotes |= bits_of(equal(bytes, '"')) << part;
    marks.brackets |= bits_of(_mm_or_si128(equal(braces, '{'), equal(braces, '}'))) << part;
    slashes = _mm_or_si128(slashes, equal(bytes, '\\'));
  }
  marks.slashes = bits_of(slashes) != 0;
  return marks;
}

/// Each bit is the parity of those up to it: of quotes, whether a byte is in a string.
std::uint64_t parity_up_to(std::uint64_t bits) {
  for (unsigned shift = 1; shift < kBlock; shift *= 2) { bits ^= bits << shift; }
  return bits;
}

}  // namespace

std::optional<std::size_t> behind_brackets(std::string_view text, Bracketed& from) {
  std::size_t depth = from.depth;
  std::uint64_t in_string = 0;  // all bits, or none
  for (std::size_t block = from.at; block + kBlock <= text.size(); block += kBlock) {
    const Marks marks = marks_of(text.data() + block);
    if (marks.slashes) { return std::nullopt; }
    const std::uint64_t strings = parity_up_to(marks.quotes) ^ in_string;
    for (std::uint64_t left = marks.brackets & ~strings; left != 0; left &= left - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(left));
      const char bracket = text[block + bit];
      if (bracket == '{' || bracket == '[') {
        ++depth;
      } else if (--depth == 0) {
        return block + bit + 1;
      }
    }
    const bool open = strings >> (kBlock - 1) != 0;
    in_string = open ? ~std::uint64_t{0} : 0;
    // Outside of strings: behind the block, or at the quote that opened the string.
    if (!open) {
      from = {block + kBlock, depth};
    } else if (marks.quotes != 0) {
      from = {block + kBlock - 1 - static_cast<std::size_t>(std::countl_zero(marks.quotes)), depth};
    }
  }
  return std::nullopt;
}
#else
std::optional<std::size_t> behind_brackets(std::string_view /*text*/, Bracketed& /*from*/) { return std::nullopt; }
#endif

}  // namespace elbowroom::explain
