#include "page/decimate.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace elbowroom::page {
namespace {

Block span(double begin, double length, std::uint32_t name = 0) {
  Block block;
  block.begin_us = begin;
  block.length_us = length;
  block.busy_us = length;
  block.name = name;
  return block;
}

/// `count` spans of `length`, one every `step`.
std::vector<Block> row(std::size_t count, double step, double length) {
  std::vector<Block> spans;
  for (std::size_t at = 0; at < count; ++at) { spans.push_back(span(static_cast<double>(at) * step, length)); }
  return spans;
}

std::size_t spans_of(const Level& level) {
  return std::accumulate(level.blocks.begin(), level.blocks.end(), std::size_t{0},
                         [](std::size_t sum, const Block& block) { return sum + block.spans; });
}

TEST(Decimate, LeavesFewSpansAsTheyAre) {
  const std::vector<Level> levels = levels_of(row(64, 10, 4), 64);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels[0].resolution_us, 0);
  EXPECT_EQ(levels[0].blocks.size(), 64U);
  EXPECT_EQ(levels[0].blocks[63].begin_us, 630);
  EXPECT_EQ(levels[0].blocks[63].spans, 1U);
}

TEST(Decimate, NoSpansAreOneEmptyLevel) {
  const std::vector<Level> levels = levels_of({}, 64);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_TRUE(levels[0].blocks.empty());
}

TEST(Decimate, MergesWhatBeginsInOnePieceOfTime) {
  // 65 spans of at most 64 blocks: 64 x 3 / 8 = 24, of which 16 is the power of two below: 16 pieces. The spans begin at 0, 10,
  // ..., 640 and the last ends at 640: 16 pieces of 40 us have four spans each, and the last, at 640, lies on the end and belongs
  // to the last piece.
  std::vector<Block> spans = row(65, 10, 4);
  spans[64].length_us = spans[64].busy_us = 0;
  spans[1] = span(10, 9, 7);
  const std::vector<Level> levels = levels_of(spans, 64);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels[0].resolution_us, 40);
  ASSERT_EQ(levels[0].blocks.size(), 16U);
  // Spans 0..4, 10..19, 20..24 and 30..34: from 0 to 34, busy 4 + 9 + 4 + 4 = 21 us, named after the longest.
  const Block& first = levels[0].blocks[0];
  EXPECT_EQ(first.begin_us, 0);
  EXPECT_EQ(first.length_us, 34);
  EXPECT_EQ(first.busy_us, 21);
  EXPECT_EQ(first.spans, 4U);
  EXPECT_EQ(first.name, 7U);
  // Spans at 600, 610, 620, 630 and 640.
  EXPECT_EQ(levels[0].blocks[15].spans, 5U);
  EXPECT_EQ(levels[0].blocks[15].begin_us, 600);
  EXPECT_EQ(levels[0].blocks[15].length_us, 40);
}

TEST(Decimate, KeepsLongSpansSingle) {
  // 16 pieces of 40 us. The span of 200 us is longer than a piece: it stays itself between the short ones.
  std::vector<Block> spans = row(65, 10, 4);
  spans.erase(spans.begin() + 11, spans.begin() + 31);  // 110..300
  spans.insert(spans.begin() + 11, span(105, 200, 3));
  while (spans.size() < 65) { spans.insert(spans.begin(), span(0, 1)); }
  const std::vector<Level> levels = levels_of(spans, 64);
  const auto found = std::ranges::find(levels[0].blocks, 3U, &Block::name);
  ASSERT_NE(found, levels[0].blocks.end());
  EXPECT_EQ(found->spans, 1U);
  EXPECT_EQ(found->begin_us, 105);
  EXPECT_EQ(found->length_us, 200);
}

TEST(Decimate, EachLevelIsFourTimesFinerThanTheOneBefore) {
  // 20,000 x 3 / 8 = 7,500: 4,096 pieces, then 1,024, the coarsest.
  const std::vector<Level> levels = levels_of(row(100'000, 1, 0.5), 20'000);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].blocks.size(), 1024U);
  EXPECT_EQ(levels[1].blocks.size(), 4096U);
  EXPECT_DOUBLE_EQ(levels[0].resolution_us, 4 * levels[1].resolution_us);
}

RC_GTEST_PROP(Decimate, LosesNoSpanAndKeepsTheBound, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 3000);
  const auto most = *rc::gen::inRange<std::size_t>(64, 1000);
  std::vector<Block> spans;
  for (std::size_t at = 0; at < count; ++at) {
    spans.push_back(span(*rc::gen::inRange(0, 1000), *rc::gen::element(0, 1, 2, 50, 900)));
  }
  std::ranges::stable_sort(spans, {}, &Block::begin_us);
  const double busy =
      std::accumulate(spans.begin(), spans.end(), 0.0, [](double sum, const Block& one) { return sum + one.busy_us; });
  const std::vector<Level> levels = levels_of(spans, most);
  std::size_t blocks = 0;
  for (const Level& level : levels) {
    blocks += level.blocks.size();
    RC_ASSERT(spans_of(level) == count);
    RC_ASSERT(std::ranges::is_sorted(level.blocks, {}, &Block::begin_us));
    double sum = 0;
    for (const Block& block : level.blocks) {
      sum += block.busy_us;
      RC_ASSERT(block.length_us >= 0);
    }
    RC_ASSERT(sum == busy);  // whole numbers
  }
  RC_ASSERT(blocks <= most);
}

}  // namespace
}  // namespace elbowroom::page
