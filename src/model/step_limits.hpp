#pragma once

#include <cstddef>
#include <cstdint>

#include "elbowroom/base/quantities.hpp"

namespace elbowroom::detail {

inline constexpr int kMostRepeats = 10'000;
/// A model of 80 layers in 16 micro-batches has some forty thousand.
inline constexpr std::size_t kMostOperations = 65'536;
/// Operations times repeats: what a program of them stays small with.
inline constexpr std::size_t kMostLaunches = 1'000'000;
inline constexpr std::int64_t kMostBlocks = std::int64_t{1} << 40;
inline constexpr std::int64_t kMostShared = 1 << 20;
inline constexpr double kLongestTime = 1e12;  ///< microseconds
inline constexpr Bytes kLargestTransfer = mebibytes(std::int64_t{16} << 20);

}  // namespace elbowroom::detail
