#pragma once

#include <cstddef>

namespace elbowroom::detail {

/// A hash of several numbers, in their order.
class MixedHash {
 public:
  template <class Number>
  void mix(Number number) {
    value_ = (value_ ^ static_cast<std::size_t>(number)) * 0x9E3779B97F4A7C15ULL + (value_ >> 29);
  }

  [[nodiscard]] std::size_t value() const { return value_; }

 private:
  std::size_t value_ = 0;
};

}  // namespace elbowroom::detail
