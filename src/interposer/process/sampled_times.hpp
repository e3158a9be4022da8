#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace elbowroom::interposer::process {

/// Times that were measured, for their sum and their median. Counted by size, 16 sizes to a doubling: no lock, no allocation.
class SampledTimes {
 public:
  void add(std::uint64_t nanoseconds) {
    sum_.fetch_add(nanoseconds, std::memory_order_relaxed);
    count_[size_of(nanoseconds)].fetch_add(1, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t samples() const {
    std::uint64_t samples = 0;
    for (const auto& count : count_) { samples += count.load(std::memory_order_relaxed); }
    return samples;
  }

  /// Nanoseconds, at most 6.25 % less than the true median. 0 where there is no sample.
  [[nodiscard]] std::uint64_t median() const {
    const std::uint64_t before = samples() / 2;
    std::uint64_t seen = 0;
    for (std::size_t size = 0; size < kSizes; ++size) {
      seen += count_[size].load(std::memory_order_relaxed);
      if (seen > before) { return least_of(size); }
    }
    return 0;
  }

 private:
  static constexpr unsigned kSteps = 16;  // to a doubling
  static constexpr unsigned kStepBits = 4;
  static constexpr unsigned kDoublings = 32;  // from 16 ns on: more than a minute
  static constexpr std::size_t kSizes = std::size_t{kSteps} * (kDoublings + 1);

  // Below 16 ns each has a size of its own.
  static std::size_t size_of(std::uint64_t nanoseconds) {
    if (nanoseconds < kSteps) { return nanoseconds; }
    const auto doubling = static_cast<unsigned>(std::bit_width(nanoseconds)) - kStepBits;
    const std::size_t step = (nanoseconds >> (doubling - 1)) - kSteps;
    const std::size_t size = std::size_t{doubling} * kSteps + step;
    return size < kSizes ? size : kSizes - 1;
  }
  static std::uint64_t least_of(std::size_t size) {
    if (size < kSteps) { return size; }
    return (std::uint64_t{kSteps} + size % kSteps) << (size / kSteps - 1);
  }

  std::atomic<std::uint64_t> sum_{0};
  std::array<std::atomic<std::uint32_t>, kSizes> count_{};
};

}  // namespace elbowroom::interposer::process
