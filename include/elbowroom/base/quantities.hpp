#pragma once

#include <compare>
#include <cstdint>

namespace elbowroom {

/// A whole number with a unit. Quantities of different units do not add, compare or convert:
/// mixing bytes with registers fails to compile (tests/compile_fail proves it).
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t count) : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.count_ + b.count_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.count_ - b.count_); }
  friend constexpr Quantity operator*(Quantity a, std::int64_t factor) { return Quantity(a.count_ * factor); }
  friend constexpr Quantity operator*(std::int64_t factor, Quantity a) { return a * factor; }
  /// How many whole times `b` goes into `a`; `b` must not be zero.
  friend constexpr std::int64_t operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }
  /// Division by a plain number rounds toward zero; `divisor` must not be zero.
  friend constexpr Quantity operator/(Quantity a, std::int64_t divisor) { return Quantity(a.count_ / divisor); }

 private:
  std::int64_t count_ = 0;
};

using Bytes = Quantity<struct BytesUnit>;
using Blocks = Quantity<struct BlocksUnit>;            // thread blocks (workgroups on AMD)
using BlocksPerSm = Quantity<struct BlocksPerSmUnit>;  // residency
using Threads = Quantity<struct ThreadsUnit>;
using Registers = Quantity<struct RegistersUnit>;  // 32-bit registers
using Sms = Quantity<struct SmsUnit>;              // streaming multiprocessors (compute units on AMD)
using Percent = Quantity<struct PercentUnit>;

constexpr Bytes kibibytes(std::int64_t n) { return Bytes(n * 1024); }
constexpr Bytes mebibytes(std::int64_t n) { return Bytes(n * 1024 * 1024); }

/// The smallest multiple of `granule` that is not below `value`; `granule` must be positive, `value` not negative.
template <class Unit>
constexpr Quantity<Unit> round_up(Quantity<Unit> value, Quantity<Unit> granule) {
  return Quantity<Unit>((value.count() + granule.count() - 1) / granule.count() * granule.count());
}

/// The greatest multiple of `granule` that is not above `value`; `granule` must be positive, `value` not negative.
template <class Unit>
constexpr Quantity<Unit> round_down(Quantity<Unit> value, Quantity<Unit> granule) {
  return Quantity<Unit>(value.count() / granule.count() * granule.count());
}

}  // namespace elbowroom
