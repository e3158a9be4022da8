#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "explain/rank_view.hpp"

namespace elbowroom::explain {

/// How much longer the kernels of a class last beside communication than alone.
struct Inflation {
  std::string kernels;      ///< the class: "gemm"
  Time more = 0;            ///< summed over the runs beside communication; below zero: they were faster
  Time alone = 0;           ///< what those runs would have lasted alone
  std::size_t runs = 0;     ///< beside communication, with a run alone to compare with
  std::size_t unknown = 0;  ///< beside communication, of kernels that never run alone
};

/// Runs of one kernel with one grid are compared with each other: at least half beside communication against not at all. Classes in
/// the order of what they lose, the most first.
std::vector<Inflation> inflation_of(const RankView& view);

}  // namespace elbowroom::explain
