#include "backend_sim/residents.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace elbowroom::sim {
namespace {

constexpr std::int64_t kNoTiles = 0;

int ended(Residents& residents, int lane, int sm, double slack = 0) {
  std::int64_t tiles = kNoTiles;
  return residents.end(lane, sm, slack, tiles);
}

TEST(Residents, EndWhenTheirWorkIsDoneAtTheRatesOfEachTime) {
  Residents residents(1, 1);
  residents.add(0, 0, 3, 10);
  EXPECT_EQ(residents.set_rates(0, 0, std::array{2.0}.data()), 5);  // 10 of work at 2
  EXPECT_EQ(residents.set_rates(0, 1, std::array{4.0}.data()), 3);  // 2 done; 8 left at 4 from 1 on
  residents.bring_up(0, 3);
  EXPECT_EQ(ended(residents, 0, 0), 3);
  EXPECT_FALSE(residents.any(0, 0));
  EXPECT_EQ(residents.set_rates(0, 3, std::array{4.0}.data()), kNever);
}

TEST(Residents, NewOnesDoNothingBeforeTheyHaveARate) {
  Residents residents(1, 1);
  residents.add(0, 0, 1, 10);
  residents.set_rates(0, 0, std::array{2.0}.data());
  residents.bring_up(0, 5);
  EXPECT_EQ(ended(residents, 0, 0), 1);
  residents.add(0, 0, 1, 10);
  residents.bring_up(0, 6);
  EXPECT_EQ(residents.set_rates(0, 6, std::array{2.0}.data()), 11);  // all 10 are left
}

TEST(Residents, CohortsEndInTheOrderOfTheirEndsWhateverTheOrderInWhichTheyCame) {
  Residents residents(1, 1);
  residents.add(0, 0, 1, 20);
  residents.add(0, 0, 2, 10);
  residents.add(0, 0, 4, 30);
  residents.add(0, 0, 8, 20);
  residents.add(0, 0, 16, 10);
  const std::array one{1.0};
  EXPECT_EQ(residents.set_rates(0, 0, one.data()), 10);
  residents.bring_up(0, 10);
  EXPECT_EQ(ended(residents, 0, 0), 18);
  residents.bring_up(0, 20);
  EXPECT_EQ(ended(residents, 0, 0), 9);
  EXPECT_EQ(residents.set_rates(0, 20, one.data()), 30);
  residents.bring_up(0, 30);
  EXPECT_EQ(ended(residents, 0, 0), 4);
}

TEST(Residents, WhatIsLessThanTheSlackAwayHasEnded) {
  Residents residents(1, 1);
  residents.add(0, 0, 1, 10);
  residents.set_rates(0, 0, std::array{2.0}.data());
  residents.bring_up(0, 4);  // 2 left, which take 1
  EXPECT_EQ(ended(residents, 0, 0, 0.5), 0);
  EXPECT_EQ(ended(residents, 0, 0, 1), 1);
}

TEST(Residents, BlocksTakeTilesUntilNoneIsLeft) {
  Residents residents(1, 1);
  residents.add(0, 0, 5, 1);
  residents.set_rates(0, 0, std::array{1.0}.data());
  std::int64_t tiles = 7;
  residents.bring_up(0, 1);
  EXPECT_EQ(residents.end(0, 0, 0, tiles), 0);  // five take one each
  EXPECT_EQ(tiles, 2);
  residents.bring_up(0, 2);
  EXPECT_EQ(residents.end(0, 0, 0, tiles), 3);  // two take the last ones
  EXPECT_EQ(tiles, 0);
  residents.bring_up(0, 3);
  EXPECT_EQ(residents.end(0, 0, 0, tiles), 2);
}

// One SM at a time and all at once are the same to the last bit.
RC_GTEST_PROP(ResidentsProperty, RatesOfAllSmsAreThoseOfEach, ()) {
  const int sms = *rc::gen::inRange(1, 20);
  const int lanes = *rc::gen::inRange(1, 4);
  const auto places = static_cast<std::size_t>(sms * lanes);
  Residents at_once(sms, lanes);
  Residents each(sms, lanes);
  double now = 0;
  for (int round = 0; round < 4; ++round) {
    now += *rc::gen::inRange(1, 1000) / 7.0;
    std::vector<double> rates(places, 0.0);  // by SM and lane
    for (int sm = 0; sm < sms; ++sm) {
      at_once.bring_up(sm, now);
      each.bring_up(sm, now);
      for (int lane = 0; lane < lanes; ++lane) {
        if (const int blocks = *rc::gen::inRange(0, 3); blocks > 0) {
          const double work = *rc::gen::inRange(1, 100'000) / 3.0;
          at_once.add(lane, sm, blocks, work);
          each.add(lane, sm, blocks, work);
        }
        RC_ASSERT(ended(at_once, lane, sm, 1e-6) == ended(each, lane, sm, 1e-6));
        if (each.any(lane, sm)) { rates[static_cast<std::size_t>(sm * lanes + lane)] = *rc::gen::inRange(1, 100) / 11.0; }
      }
    }
    now += 1.0 / 3.0;
    std::vector<double> next(static_cast<std::size_t>(sms));
    at_once.set_all_rates(now, [&](std::size_t sm) { return rates.data() + sm * static_cast<std::size_t>(lanes); }, next.data());
    for (int sm = 0; sm < sms; ++sm) {
      RC_ASSERT(next[static_cast<std::size_t>(sm)] == each.set_rates(sm, now, rates.data() + sm * lanes));
    }
  }
}

}  // namespace
}  // namespace elbowroom::sim
