#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace elbowroom::run {

/// Lines of a text in which "device NAME" begins what is said of the devices of that name. Allocates nothing.
class DeviceLines {
 public:
  explicit DeviceLines(std::string_view text) : rest_(text) {}

  /// The next line that begins no device; false behind the last one.
  bool next(std::string_view& line);
  /// That of the line.
  [[nodiscard]] std::string_view device() const { return device_; }
  /// Of the line, counted from 1.
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view device_;
  std::size_t number_ = 0;
};

/// Writes such a text: what is said of one device in a row shares its first line.
class DeviceText {
 public:
  /// The text so far, to which the caller appends a line on that device.
  std::string& on(std::string_view device);
  [[nodiscard]] std::string taken() { return std::move(text_); }

 private:
  std::string text_;
  std::string_view device_;
};

}  // namespace elbowroom::run
