#include "interposer/core/graph_width.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace elbowroom::interposer {
namespace {

std::uint64_t width(const std::vector<std::uint64_t>& blocks, std::vector<GraphEdge> edges) { return most_at_once(blocks, edges); }

TEST(GraphWidth, AddsWhatNothingOrders) {
  EXPECT_EQ(width({}, {}), 0U);
  EXPECT_EQ(width({24, 0, 32}, {}), 56U);
}

TEST(GraphWidth, OfWhatStandsBehindOneAnotherCountsTheLargest) {
  EXPECT_EQ(width({24, 0, 64, 32}, {{2, 3}, {0, 1}, {1, 2}}), 64U) << "also behind a node without blocks";
  // Two chains, the second of which begins in the middle of the first.
  EXPECT_EQ(width({8, 16, 4, 2}, {{0, 1}, {0, 2}, {2, 3}}), 20U);
  EXPECT_EQ(width({8, 16, 4, 2}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), 20U) << "the last one is behind both";
}

TEST(GraphWidth, AddsAllWhereItCannotTell) {
  EXPECT_EQ(width({1, 2}, {{0, 1}, {1, 0}}), 3U) << "no graph";
  std::vector<std::uint64_t> many(40, 1);
  std::vector<GraphEdge> edges;
  for (std::uint32_t i = 0; i < 20; ++i) { edges.push_back({i, i + 20}); }
  EXPECT_EQ(width(many, edges), 40U) << "more chains than are followed";
}

}  // namespace
}  // namespace elbowroom::interposer
