#include "elbowroom/model/size.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace elbowroom {
namespace {

constexpr std::string_view kSuffixes = "KMGT";
// Leaves room to double a size without overflow.
constexpr std::int64_t kGreatest = std::int64_t{1} << 62;

Error bad_size(std::string_view text) {
  return invalid_input(
      fmt::format("size '{}': expected a whole number with an optional suffix K, M, G or T (powers of 1024), at most 2^62", text));
}

// Letters are compared without the locale: a size means the same everywhere.
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

Result<Bytes> parse_size(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || number < 0) { return bad_size(text); }

  int shift = 0;
  if (rest != end) {
    const std::size_t suffix = kSuffixes.find(upper(*rest));
    if (suffix == std::string_view::npos || rest + 1 != end) { return bad_size(text); }
    shift = 10 * (static_cast<int>(suffix) + 1);
  }
  if (number > (kGreatest >> shift)) { return bad_size(text); }
  return Bytes(number << shift);
}

std::string format_size(Bytes size) {
  std::int64_t number = size.count();
  std::size_t suffix = 0;
  while (suffix < kSuffixes.size() && number != 0 && number % 1024 == 0) {
    number /= 1024;
    ++suffix;
  }
  return suffix == 0 ? fmt::format("{}", number) : fmt::format("{}{}", number, kSuffixes[suffix - 1]);
}

}  // namespace elbowroom
