#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "interposer/core/core.hpp"

namespace elbowroom::interposer {

/// JSON to a sink, without allocation: the interposer links no library that could write it. Commas are placed here; the caller
/// keeps braces and keys in order.
class ReportWriter {
 public:
  explicit ReportWriter(const Sink& sink) : sink_(sink) {}
  ~ReportWriter() { flush(); }
  ReportWriter(const ReportWriter&) = delete;
  ReportWriter& operator=(const ReportWriter&) = delete;

  ReportWriter& begin_object() { return open('{'); }
  ReportWriter& end_object() { return close('}'); }
  ReportWriter& begin_array() { return open('['); }
  ReportWriter& end_array() { return close(']'); }
  ReportWriter& key(const char* name);
  /// Bytes that are no UTF-8 text on their own (control characters, anything above 126) are escaped.
  ReportWriter& text(const char* value);
  ReportWriter& text(const char* first, const char* second);  ///< both, one after the other, as one string
  ReportWriter& number(std::uint64_t value);
  /// As a string of sixteen digits: JSON's readers keep 53 bits of a number.
  ReportWriter& hexadecimal(std::uint64_t value);
  /// Nanoseconds, written in microseconds with three decimals.
  ReportWriter& microseconds(std::uint64_t nanoseconds);
  /// A share, written in percent with three decimals.
  ReportWriter& percent(double share);

 private:
  ReportWriter& open(char bracket);
  ReportWriter& close(char bracket);
  void separate();
  void put(char character);
  void put_digits(std::uint64_t value, unsigned least_digits);
  void put_escaped(const char* value);
  void flush();

  Sink sink_;
  std::array<char, 1024> buffer_{};
  std::size_t used_ = 0;
  bool comma_ = false;  ///< a value stands before in this object or array
};

}  // namespace elbowroom::interposer
