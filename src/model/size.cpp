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
  return invalid_input(fmt::format(
      "size '{}': expected a number with an optional suffix K, M, G or T (powers of 1024, as in 512M, 1.5GB), at most 2^62", text));
}

// Letters are compared without the locale: a size means the same everywhere.
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Of a whole: digits behind a point.
struct Fraction {
  std::int64_t digits = 0;
  std::int64_t of = 1;
};

/// So many digits that their product with the greatest unit has a place. False: none, or more than these.
bool read_fraction(const char*& at, const char* end, Fraction& fraction) {
  constexpr std::int64_t most = 1'000'000;
  const char* const begin = at;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) {
    if (fraction.of == most) { return false; }
    fraction.digits = fraction.digits * 10 + (*at - '0');
    fraction.of *= 10;
  }
  return at != begin;
}

}  // namespace

Result<Bytes> parse_size(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || number < 0) { return bad_size(text); }

  Fraction fraction;
  if (rest != end && *rest == '.') {
    ++rest;
    if (!read_fraction(rest, end, fraction)) { return bad_size(text); }
  }
  int shift = 0;
  if (rest != end) {
    const std::size_t suffix = kSuffixes.find(upper(*rest));
    if (suffix == std::string_view::npos) { return bad_size(text); }
    shift = 10 * (static_cast<int>(suffix) + 1);
    const std::string_view unit(rest + 1, static_cast<std::size_t>(end - rest - 1));
    if (!unit.empty() && unit != "B" && unit != "iB") { return bad_size(text); }
  }
  if (number > (kGreatest >> shift) || (shift == 0 && fraction.digits > 0)) { return bad_size(text); }
  const std::int64_t bytes = (number << shift) + (fraction.digits << shift) / fraction.of;
  return bytes <= kGreatest ? Result<Bytes>(Bytes(bytes)) : bad_size(text);
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
