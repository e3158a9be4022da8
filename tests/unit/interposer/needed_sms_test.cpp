#include "interposer/core/needed_sms.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

TEST(NeededSms, AreOneForOrdinaryLaunches) {
  NeededSms needed;
  needed.note(1);
  EXPECT_EQ(needed.of(132), 1U);
  EXPECT_EQ(needed.of(0), 1U) << "of an unknown number nothing is left";
}

// Of 132 SMs there are at most 132 / 8 = 16 groups. 16 SMs may leave one of each pair free, and 17 not: (2 - 1) x 16 + 1.
TEST(NeededSms, LetAClusterFindAGroup) {
  NeededSms needed;
  needed.note(2);
  EXPECT_EQ(needed.of(132), 17U);
  EXPECT_EQ(needed.of(7), 1U) << "not one whole group";
  needed.note(1);
  EXPECT_EQ(needed.of(132), 17U) << "the largest counts";
}

}  // namespace
}  // namespace elbowroom::interposer
