#include "run/product.hpp"

#include <gtest/gtest.h>

namespace elbowroom::run {
namespace {

TEST(Product, IsKnownByItsFlop) {
  // 2 x 8192^3 = 2^40, and 2 x 4096^3 = 2^37; a little less is the class below.
  EXPECT_EQ(product_of(ProductType::bf16, 8192, 8192, 8192, 1).flop_class, 40U);
  EXPECT_EQ(product_of(ProductType::bf16, 8192, 8192, 8191, 1).flop_class, 39U);
  EXPECT_EQ(product_of(ProductType::f32, 4096, 4096, 4096, 1).flop_class, 37U);
  EXPECT_EQ(product_of(ProductType::f32, 4096, 4096, 4096, 8).flop_class, 40U);
  EXPECT_EQ(product_of(ProductType::f32, 1, 1, 1, 1).flop_class, 1U);
  EXPECT_EQ(product_of(ProductType::f32, 2147483647, 2147483647, 2147483647, 2147483647).flop_class, 124U);
  for (const std::int64_t none : {0, -1}) { EXPECT_EQ(product_of(ProductType::f32, none, 8, 8, 8).flop_class, 0U); }
}

}  // namespace
}  // namespace elbowroom::run
