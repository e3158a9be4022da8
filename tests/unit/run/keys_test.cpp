#include "run/keys.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace elbowroom::run {
namespace {

TEST(Keys, AreSixteenDigits) {
  EXPECT_EQ(parse_key("00000000000000a1"), 0xa1U);
  EXPECT_EQ(parse_key("fedcba9876543210"), 0xfedc'ba98'7654'3210U);
  for (const char* other : {"", "a1", "0000000000000000", "00000000000000A1", "00000000000000a1 ", "-0000000000000a1"}) {
    EXPECT_EQ(parse_key(other), std::nullopt) << other;
  }
}

RC_GTEST_PROP(Keys, AreTheSameAfterTheirText, ()) {
  const auto key = *rc::gen::positive<Key>();
  RC_ASSERT(parse_key(key_text(key)) == key);
}

}  // namespace
}  // namespace elbowroom::run
