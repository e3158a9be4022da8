#pragma once

#include <cstdint>

namespace elbowroom::sim {

/// A well-mixed function of `n` (the finalizer of splitmix64).
constexpr std::uint64_t mixed(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15ULL;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
  return n ^ (n >> 31);
}

/// The same as a number in [0, 1).
constexpr double mixed_fraction(std::uint64_t n) { return static_cast<double>(mixed(n) >> 11) * 0x1p-53; }

}  // namespace elbowroom::sim
