#include "elbowroom/base/grouped.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace elbowroom {
namespace {

TEST(Grouped, SeparatesThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(262'144), "262,144");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
}

TEST(Grouped, KeepsTheSignApartFromTheGroups) {
  EXPECT_EQ(grouped(-5), "-5");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(grouped(-262'144), "-262,144");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace elbowroom
