#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace elbowroom::detail {

/// What errors come to, as shares.
struct ErrorSpread {
  double median = 0;
  double nine_in_ten = 0;  ///< nearest rank
  double worst = 0;
};

/// Of one error or more.
inline ErrorSpread spread_of(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  const std::size_t count = errors.size();
  return {(errors[(count - 1) / 2] + errors[count / 2]) / 2, errors[(count * 9 + 9) / 10 - 1], errors.back()};
}

}  // namespace elbowroom::detail
