#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace elbowroom::run {

enum class ProductType : std::uint8_t { other, f32, bf16 };

/// A product of a GEMM library by the type of its factors and its size class.
struct Product {
  ProductType type = ProductType::other;
  std::uint8_t flop_class = 0;  ///< the binary logarithm of 2 m n k, rounded down; 0: unknown

  bool operator==(const Product&) const = default;
};

/// `batches` products of m x k by k x n elements; of class 0 where one of the numbers is not positive.
constexpr Product product_of(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batches) {
  if (std::min({m, n, k, batches}) <= 0) { return {type, 0}; }
  const double flop = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batches);
  // The exponent as it is stored: the library of logarithms is none of ours here.
  constexpr unsigned mantissa = 52;
  constexpr std::uint64_t bias = 1023;
  return {type, static_cast<std::uint8_t>((std::bit_cast<std::uint64_t>(flop) >> mantissa) - bias)};
}

}  // namespace elbowroom::run
