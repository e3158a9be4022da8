#pragma once

#include <array>
#include <cstdint>

namespace elbowroom::interposer {

/// How long one kind of launch lasts, learned from few timings: three launches at first, then every 64th until the last samples
/// agree.
class DurationSamples {
 public:
  static constexpr unsigned kFirst = 3;  ///< of these, every launch that can be timed
  static constexpr unsigned kEvery = 64;
  static constexpr unsigned kKept = 8;
  static constexpr unsigned kEnough = 5;
  static constexpr unsigned kAtMost = 32;  ///< what spreads for ever is measured no longer than this

  /// Whether the launch with this number (from 0) of its kind should be timed.
  [[nodiscard]] bool wants(std::uint64_t launch) const;
  void add(std::uint64_t nanoseconds);
  /// What an earlier run learned: it stands in until this one has measured.
  void begin_with(std::uint32_t nanoseconds) { learned_ = nanoseconds; }

  /// From the second sample on: the first launch of a kernel also pays for loading it and for opening connections.
  [[nodiscard]] bool measured() const { return taken_ >= 2; }
  [[nodiscard]] bool known() const { return measured() || learned_ != 0; }
  /// Nanoseconds: the lower median of the samples kept, or what was learned before; 0 while unknown.
  [[nodiscard]] std::uint64_t expected() const { return measured() ? median_ : learned_; }
  [[nodiscard]] bool converged() const { return converged_; }

 private:
  std::array<std::uint32_t, kKept> samples_{};
  std::uint32_t median_ = 0;
  std::uint32_t learned_ = 0;
  std::uint8_t taken_ = 0;
  bool converged_ = false;
};

/// Keeps timing rare whatever the program launches: one launch in sixteen, and a stock for the beginning.
class TimingAllowance {
 public:
  static constexpr std::uint32_t kPrice = 16;
  static constexpr std::uint32_t kStock = 64 * kPrice;

  void earn() {
    if (credit_ < kStock) { ++credit_; }
  }
  [[nodiscard]] bool spend() {
    if (credit_ < kPrice) { return false; }
    credit_ -= kPrice;
    return true;
  }

 private:
  std::uint32_t credit_ = kStock;
};

}  // namespace elbowroom::interposer
