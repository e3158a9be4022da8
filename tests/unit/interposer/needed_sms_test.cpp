#include "interposer/core/needed_sms.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

TEST(NeededSms, AreOneForOrdinaryLaunches) {
  NeededSms needed;
  needed.note(0, 1);
  EXPECT_EQ(needed.beside_first(132), 1U);
  EXPECT_EQ(needed.beside_first(0), 1U) << "of an unknown number nothing is left";
}

// Of 132 SMs there are at most 132 / 8 = 16 groups. 16 SMs may leave one of each pair free, and 17 not: (2 - 1) x 16 + 1.
TEST(NeededSms, LetAClusterFindAGroup) {
  NeededSms needed;
  needed.note(0, 2);
  EXPECT_EQ(needed.beside_first(132), 17U);
  EXPECT_EQ(needed.beside_first(7), 1U) << "not one whole group";
  needed.note(0, 1);
  EXPECT_EQ(needed.beside_first(132), 17U) << "the largest counts";
}

TEST(NeededSms, RememberTheLargestCooperativeLaunch) {
  NeededSms needed;
  EXPECT_EQ(needed.beside_others(132), 0U);
  needed.note(40, 1);
  needed.note(24, 1);
  EXPECT_EQ(needed.beside_first(132), 1U) << "nothing overtakes it";
  EXPECT_EQ(needed.beside_others(132), 40U);
  needed.note(0, 4);
  EXPECT_EQ(needed.beside_others(132), 49U) << "3 x 16 + 1 for a cluster";
}

}  // namespace
}  // namespace elbowroom::interposer
