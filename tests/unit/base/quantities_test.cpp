#include "elbowroom/base/quantities.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

namespace elbowroom {
namespace {

TEST(Quantity, CountsFromZero) {
  EXPECT_EQ(Bytes().count(), 0);
  EXPECT_EQ(kibibytes(3), Bytes(3'072));
  EXPECT_EQ(mebibytes(2), Bytes(2'097'152));
}

TEST(Quantity, AddsAndScalesWithinItsUnit) {
  EXPECT_EQ(Threads(256) + Threads(32), Threads(288));
  EXPECT_EQ(Threads(256) - Threads(288), Threads(-32));
  EXPECT_EQ(Registers(56) * 32, Registers(1'792));
  EXPECT_EQ(32 * Registers(56), Registers(1'792));
  Bytes size(100);
  size += Bytes(28);
  size -= Bytes(1);
  EXPECT_EQ(size, Bytes(127));
}

TEST(Quantity, DividesByItsUnitToANumberAndByANumberToItsUnit) {
  EXPECT_EQ(Bytes(233'472) / Bytes(58'496), 3);  // 3 * 58,496 = 175,488; 4 * 58,496 = 233,984
  EXPECT_EQ(Bytes(233'472) / 5, Bytes(46'694));  // 46,694.4
}

TEST(Quantity, OrdersByCount) {
  EXPECT_LT(BlocksPerSm(3), BlocksPerSm(4));
  EXPECT_GT(BlocksPerSm(4), BlocksPerSm(-4));
  EXPECT_NE(Blocks(3), Blocks(4));
}

TEST(Round, KeepsMultiplesAndMovesTheRest) {
  EXPECT_EQ(round_up(Bytes(0), Bytes(128)), Bytes(0));
  EXPECT_EQ(round_up(Bytes(1), Bytes(128)), Bytes(128));
  EXPECT_EQ(round_up(Bytes(128), Bytes(128)), Bytes(128));
  EXPECT_EQ(round_up(Bytes(129), Bytes(128)), Bytes(256));
  EXPECT_EQ(round_down(Bytes(127), Bytes(128)), Bytes(0));
  EXPECT_EQ(round_down(Bytes(128), Bytes(128)), Bytes(128));
  EXPECT_EQ(round_down(Bytes(255), Bytes(128)), Bytes(128));
}

RC_GTEST_PROP(RoundProperty, EnclosesTheValueWithinOneGranule, ()) {
  const Bytes value(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50));
  const Bytes granule(*rc::gen::inRange<std::int64_t>(1, 1 << 20));
  const Bytes above = round_up(value, granule);
  const Bytes below = round_down(value, granule);
  RC_ASSERT(above.count() % granule.count() == 0);
  RC_ASSERT(below.count() % granule.count() == 0);
  RC_ASSERT(above.count() >= value.count());
  RC_ASSERT(below.count() <= value.count());
  RC_ASSERT((above - below).count() == (value == below ? 0 : granule.count()));
}

}  // namespace
}  // namespace elbowroom
