#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace elbowroom::ranks {

/// Values as bytes, least byte first, so that hosts agree.
class WireWriter {
 public:
  void number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) { bytes_.push_back(static_cast<char>(bits >> shift & 0xffU)); }
  }
  void real(double value) { number(std::bit_cast<std::int64_t>(value)); }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_ += value;
  }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads them back. What is not there reads as 0 or empty, and from then on nothing is good.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t number() {
    const std::string_view own = take(8);
    std::uint64_t bits = 0;
    for (std::size_t at = own.size(); at-- > 0;) { bits = bits << 8 | static_cast<unsigned char>(own[at]); }
    return static_cast<std::int64_t>(bits);
  }
  double real() { return std::bit_cast<double>(number()); }
  std::string_view text() { return take(count()); }
  /// A number of things that follow, of a byte or more each.
  std::uint64_t count() {
    const auto many = static_cast<std::uint64_t>(number());
    if (many <= bytes_.size()) { return many; }
    good_ = false;
    return 0;
  }

  /// Whether everything that was asked for was there.
  [[nodiscard]] bool good() const { return good_; }
  /// And nothing else.
  [[nodiscard]] bool complete() const { return good_ && bytes_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) { good_ = false; }
    if (!good_) { return {}; }
    const std::string_view own = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return own;
  }

  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace elbowroom::ranks
