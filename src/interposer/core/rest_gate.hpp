#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace elbowroom::interposer {

/// What a launch looks at first: whether the program is left alone, and which functions need nobody's attention then. Never
/// destroyed before the process is.
struct RestGate {
  static constexpr unsigned kPlaceBits = 11;
  static constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
  static constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15U;  // 2^64 divided by the golden ratio: spreads neighbours

  /// Where a function stands in a table of kPlaces.
  static constexpr std::size_t place(std::uint64_t function) { return (function * kSpread) >> (64 - kPlaceBits); }

  std::atomic<const std::atomic<std::uint64_t>*> known{nullptr};  ///< kPlaces functions; null: the program is not left alone
  std::atomic<std::uint64_t> launches{0};                         ///< that went by since
};

}  // namespace elbowroom::interposer
