#include "interposer/core/shaping.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

constexpr DeviceInfo kH200{132, 233'472, 1'024, 232'448};

LaunchFacts many_blocks() {
  LaunchFacts facts;
  facts.grid = {100'000, 1, 1};
  facts.block = {256, 1, 1};
  return facts;
}

Refusal refusal(const LaunchFacts& facts, std::uint32_t residency, std::uint32_t cap, const DeviceInfo& device = kH200) {
  return shape({facts, device, 0, residency, cap}).refusal;
}

TEST(Shaping, PadsToTheLeastThatGivesTheCap) {
  // 233,472 / 2 = 116,736: one granule more, so that two blocks do not fit; less 1,024 reserved: 115,840.
  EXPECT_EQ(shape({many_blocks(), kH200, 0, 8, 1}).dynamic_shared, 115'840U);
  // 233,472 / 6 = 38,912; + 128 - 1,024 - 4,096 static = 33,920. Five such blocks take 195,200 of 233,472 bytes.
  const Shaping five = shape({many_blocks(), kH200, 4'096, 8, 5});
  EXPECT_EQ(five.refusal, Refusal::none);
  EXPECT_EQ(five.dynamic_shared, 33'920U);
}

TEST(Shaping, PadsByThePiecesOfTheDevice) {
  // A compute unit of an MI250X gives its 65,536 bytes in pieces of 512 and reserves none. 65,536 / 4 = 16,384: one piece more.
  constexpr DeviceInfo kMi250x{110, 65'536, 0, 65'536, 512};
  EXPECT_EQ(shape({many_blocks(), kMi250x, 4'184, 8, 3}).dynamic_shared, 16'896U - 4'184U);
  // Twenty such blocks: 65,536 / 21 is 6 pieces; 7 pieces each are more than there are, so no pad gives a residency of twenty.
  EXPECT_EQ(refusal(many_blocks(), 32, 20, kMi250x), Refusal::no_pad);
}

TEST(Shaping, NeverAsksForLessThanTheProgram) {
  LaunchFacts facts = many_blocks();
  facts.dynamic_shared = 40'000;
  EXPECT_EQ(shape({facts, kH200, 4'096, 8, 5}).dynamic_shared, 40'000U);
}

TEST(Shaping, KeepsTheRulesOfNeverPad) {
  LaunchFacts facts = many_blocks();
  facts.cooperative = true;
  EXPECT_EQ(refusal(facts, 8, 2), Refusal::cooperative_launch);
  facts = many_blocks();
  facts.cluster = 2;
  EXPECT_EQ(refusal(facts, 8, 2), Refusal::cluster_launch);
  facts = many_blocks();
  facts.grid = {132 * 8, 1, 1};  // one wave: may hold a grid barrier
  EXPECT_EQ(refusal(facts, 8, 2), Refusal::single_wave);
  facts.grid.x += 1;
  EXPECT_EQ(refusal(facts, 8, 2), Refusal::none);
  EXPECT_EQ(refusal(many_blocks(), 1, 1), Refusal::already_at_cap);
  EXPECT_EQ(refusal(many_blocks(), 2, 3), Refusal::already_at_cap);
  EXPECT_EQ(refusal(many_blocks(), 0, 1), Refusal::unknown_residency);
  EXPECT_EQ(refusal(many_blocks(), 8, 2, DeviceInfo{}), Refusal::unknown_residency);
}

TEST(Shaping, SaysWhenNoPadGivesTheCap) {
  // An A40: one block per SM would need 51,328 bytes of 102,400, more than a block may have without opting in.
  constexpr DeviceInfo kNotOptedIn{84, 102'400, 1'024, 49'152};
  EXPECT_EQ(refusal(many_blocks(), 4, 1, kNotOptedIn), Refusal::no_pad);
  // More static shared memory than the cap leaves to a block, although the residency is said to be higher.
  EXPECT_EQ(shape({many_blocks(), kH200, 60'000, 8, 5}).refusal, Refusal::no_pad);
}

}  // namespace
}  // namespace elbowroom::interposer
