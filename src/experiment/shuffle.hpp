#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace elbowroom::detail {

/// Fisher-Yates with the same result everywhere.
template <class T>
void shuffle(std::vector<T>& order, std::mt19937_64& random) {
  for (std::size_t left = order.size(); left > 1; --left) { std::swap(order[left - 1], order[random() % left]); }
}

}  // namespace elbowroom::detail
