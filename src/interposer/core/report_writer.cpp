#include "interposer/core/report_writer.hpp"

#include <cmath>
#include <cstdlib>

namespace elbowroom::interposer {
namespace {

constexpr const char* kHex = "0123456789abcdef";

}  // namespace

ReportWriter& ReportWriter::open(char bracket) {
  separate();
  put(bracket);
  comma_ = false;
  return *this;
}

ReportWriter& ReportWriter::close(char bracket) {
  put(bracket);
  comma_ = true;
  return *this;
}

ReportWriter& ReportWriter::key(const char* name) {
  text(name);
  put(':');
  comma_ = false;
  return *this;
}

ReportWriter& ReportWriter::text(const char* value) { return text(value, ""); }

ReportWriter& ReportWriter::text(const char* first, const char* second) {
  separate();
  put('"');
  put_escaped(first);
  put_escaped(second);
  put('"');
  return *this;
}

ReportWriter& ReportWriter::number(std::uint64_t value) {
  separate();
  put_digits(value, 1);
  return *this;
}

ReportWriter& ReportWriter::hexadecimal(std::uint64_t value) {
  separate();
  put('"');
  for (unsigned shift = 64; shift > 0; shift -= 4) { put(kHex[(value >> (shift - 4)) & 15U]); }
  put('"');
  return *this;
}

ReportWriter& ReportWriter::microseconds(std::uint64_t nanoseconds) {
  separate();
  put_digits(nanoseconds / 1000, 1);
  put('.');
  put_digits(nanoseconds % 1000, 3);
  return *this;
}

ReportWriter& ReportWriter::percent(double share) {
  separate();
  const std::int64_t thousandths = std::llround(share * 1e5);
  if (thousandths < 0) { put('-'); }
  const auto size = static_cast<std::uint64_t>(std::abs(thousandths));
  put_digits(size / 1000, 1);
  put('.');
  put_digits(size % 1000, 3);
  return *this;
}

void ReportWriter::separate() {
  if (comma_) { put(','); }
  comma_ = true;
}

void ReportWriter::put(char character) {
  if (used_ == buffer_.size()) { flush(); }
  buffer_[used_++] = character;
}

void ReportWriter::put_digits(std::uint64_t value, unsigned least_digits) {
  std::array<char, 20> digits{};
  unsigned count = 0;
  do {
    digits[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0 || count < least_digits);
  while (count > 0) { put(digits[--count]); }
}

void ReportWriter::put_escaped(const char* value) {
  for (; *value != '\0'; ++value) {
    const auto byte = static_cast<unsigned char>(*value);
    if (byte == '"' || byte == '\\') { put('\\'); }
    if (byte >= 0x20 && byte < 0x7f) {
      put(*value);
      continue;
    }
    for (const char* escape = "\\u00"; *escape != '\0'; ++escape) { put(*escape); }
    put(kHex[byte >> 4U]);
    put(kHex[byte & 15U]);
  }
}

void ReportWriter::flush() {
  if (used_ > 0 && sink_.write != nullptr) { sink_.write(sink_.self, buffer_.data(), used_); }
  used_ = 0;
}

}  // namespace elbowroom::interposer
