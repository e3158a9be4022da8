#include "interposer/core/budget.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

namespace elbowroom::interposer {
namespace {

BudgetAsk ask_of(std::uint32_t budget, std::size_t bytes, int decided = 0) {
  return {.budget = budget, .collectives = 1, .decided = decided, .bytes = bytes, .ranks = 2, .algorithm = Algorithm::ring};
}

TEST(Budget, NoneLeavesEverythingAsItIs) {
  EXPECT_EQ(channels_for(ask_of(0, 1U << 30U)), 0);
  EXPECT_EQ(channels_for(ask_of(0, 1U << 30U, 12)), 12);
}

TEST(Budget, LowersTheUsersPluginAndNeverRaisesIt) {
  EXPECT_EQ(channels_for(ask_of(8, 1, 12)), 8);
  EXPECT_EQ(channels_for(ask_of(16, 1U << 30U, 12)), 12);
}

// 8 channels from 8 x 640 threads x 64 bytes = 327,680 bytes on. With 32 ranks LL's rings need 8 x 512 x 8 x 32 = 1,048,576.
TEST(Budget, FewBytesAreNotRaised) {
  EXPECT_EQ(channels_for(ask_of(8, 327679)), 0);
  EXPECT_EQ(channels_for(ask_of(8, 327680)), 8);
  BudgetAsk many = ask_of(8, 1048575);
  many.ranks = 32;
  EXPECT_EQ(channels_for(many), 0);
  ++many.bytes;
  EXPECT_EQ(channels_for(many), 8);
}

TEST(Budget, IsSharedByAGroup) {
  BudgetAsk ask = ask_of(16, 1U << 30U);
  for (const auto& [collectives, channels] : {std::pair{2U, 8}, {3U, 5}, {16U, 1}, {40U, 1}, {0U, 16}}) {
    ask.collectives = collectives;
    EXPECT_EQ(channels_for(ask), channels) << collectives;
  }
}

TEST(Budget, FollowsTheAlgorithm) {
  BudgetAsk ask = ask_of(8, 1000);
  ask.algorithm = Algorithm::nvls;
  EXPECT_EQ(channels_for(ask), 8) << "a fixed number, whatever the bytes";
  ask.bytes = 1U << 30U;
  ask.algorithm = Algorithm::collnet_direct;
  EXPECT_EQ(channels_for(ask), 0);
  ask.algorithm = Algorithm::unknown;
  EXPECT_EQ(channels_for(ask), 0);
}

// Two protocols: the first of the least times counts, and negative ones are not possible.
TEST(Budget, FindsTheCheapest) {
  EXPECT_EQ(cheapest(std::array{-1.0F, 5.0F, 4.0F, 9.0F, 4.0F, -1.0F}, 2), Algorithm::ring);
  EXPECT_EQ(cheapest(std::array{-1.0F, -1.0F, -1.0F, -1.0F}, 2), Algorithm::unknown);
  EXPECT_EQ(cheapest(std::array{3.0F, 0.0F}, 2), Algorithm::tree);
  EXPECT_EQ(cheapest(std::array{1.0F}, 0), Algorithm::unknown);
  EXPECT_EQ(cheapest(std::array{9.0F, 9.0F, 9.0F, 9.0F, 9.0F, 9.0F, 9.0F, 1.0F}, 1), Algorithm::unknown) << "an eighth algorithm";
}

TEST(Budget, TurnsComeInTheirOrder) {
  BudgetTurns turns;
  EXPECT_EQ(wanted_budget(turns, 5), 0);
  turns = {{4, 8, 16}, 3, 10};
  for (const auto& [sequence, blocks] : {std::pair{0U, 4}, {9U, 4}, {10U, 8}, {29U, 16}, {30U, 4}}) {
    EXPECT_EQ(wanted_budget(turns, sequence), blocks);
  }
  EXPECT_EQ(wanted_budget({{12}, 1, 0}, 1000), 12);
}

// NCCL's own number: one channel less while there are fewer bytes than channels x threads x threshold.
RC_GTEST_PROP(Budget, NeverRaisesWhatNcclWouldTake, ()) {
  BudgetAsk ask = ask_of(static_cast<std::uint32_t>(*rc::gen::inRange(1, 65)), *rc::gen::inRange<std::size_t>(1, 8U << 20U),
                         *rc::gen::element(0, 0, 0, 12, 32));
  ask.collectives = static_cast<std::uint32_t>(*rc::gen::inRange(0, 9));
  const auto threads = *rc::gen::element<std::size_t>(96, 256, 512, 640);
  const auto threshold = *rc::gen::element<std::size_t>(8, 16, 64);
  const auto limit = *rc::gen::inRange<std::size_t>(1, 65);
  std::size_t own = limit;
  while (own > 1 && ask.bytes < own * threads * threshold) { --own; }
  const int answer = channels_for(ask);
  const std::size_t before = ask.decided > 0 ? std::min<std::size_t>(static_cast<std::size_t>(ask.decided), limit) : own;
  const std::size_t after = answer > 0 ? std::min<std::size_t>(static_cast<std::size_t>(answer), limit) : own;
  RC_ASSERT(after <= before);
}

}  // namespace
}  // namespace elbowroom::interposer
