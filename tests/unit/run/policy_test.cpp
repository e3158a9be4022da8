#include "run/policy.hpp"

#include <gtest/gtest.h>

namespace elbowroom::run {
namespace {

TEST(Policy, HasAWordForEachOfTheFive) {
  EXPECT_STREQ(text(Policy::automatic), "auto");
  EXPECT_STREQ(text(Policy::observe), "observe");
  EXPECT_STREQ(text(Policy::priority), "priority");
  EXPECT_STREQ(text(Policy::gate), "gate");
  EXPECT_STREQ(text(Policy::shape), "shape");
  for (const Policy policy : {Policy::automatic, Policy::observe, Policy::priority, Policy::gate, Policy::shape}) {
    EXPECT_EQ(parse_policy(text(policy)), policy);
  }
  for (const char* other : {"", "automatic", "Auto", "auto "}) { EXPECT_EQ(parse_policy(other), std::nullopt) << other; }
}

}  // namespace
}  // namespace elbowroom::run
