#include "preload/variables.hpp"

#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

TEST(Variables, AreFoundByNameAndTheFirstCounts) {
  const Variables variables{{"A", "1"}, {"EMPTY", ""}, {"A", "2"}};
  EXPECT_EQ(value_of(variables, "A"), "1");
  EXPECT_EQ(value_of(variables, "EMPTY"), "");
  EXPECT_EQ(value_of(variables, "B"), std::nullopt);
  EXPECT_EQ(word_of(variables, "A"), "1");
  EXPECT_EQ(word_of(variables, "EMPTY"), std::nullopt);
  EXPECT_EQ(word_of(variables, "B"), std::nullopt);
}

}  // namespace
}  // namespace elbowroom::preload
