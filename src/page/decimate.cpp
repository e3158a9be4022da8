#include "page/decimate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace elbowroom::page {
namespace {

// A picture is some 1,000 points wide: coarser levels would show less than it can.
constexpr std::size_t kCoarsest = 1024;
constexpr std::size_t kLeastBlocks = 64;
// How much finer each level is than the one before: a picture has at most so many blocks on a point.
constexpr std::size_t kFiner = 4;

double end_of(const Block& block) { return block.begin_us + block.length_us; }

void take_in(Block& block, double& longest, const Block& span) {
  const double end = std::max(end_of(block), end_of(span));
  block.length_us = end - block.begin_us;
  block.busy_us += span.busy_us;
  block.spans += span.spans;
  if (span.length_us <= longest) { return; }
  longest = span.length_us;
  block.name = span.name;
  block.launch = span.launch;
}

/// At most two blocks for each of `buckets` pieces of time: one of the short spans that begin in it, one of the long ones. Long
/// spans of a stream do not overlap, so that they stay single.
Level merged(const std::vector<Block>& spans, double begin, double range, std::size_t buckets) {
  struct Open {
    std::size_t block = 0;
    double bucket = -1;
    double longest = 0;
  };
  Level level{range / static_cast<double>(buckets), {}};
  Open open[2];
  for (const Block& span : spans) {
    const double bucket = std::min(std::floor((span.begin_us - begin) / level.resolution_us), static_cast<double>(buckets - 1));
    Open& kind = open[span.length_us < level.resolution_us ? 0 : 1];
    if (kind.bucket == bucket) {
      take_in(level.blocks[kind.block], kind.longest, span);
    } else {
      kind = {level.blocks.size(), bucket, span.length_us};
      level.blocks.push_back(span);
    }
  }
  return level;
}

}  // namespace

std::vector<Level> levels_of(std::vector<Block> spans, std::size_t most_blocks) {
  most_blocks = std::max(most_blocks, kLeastBlocks);
  if (spans.size() <= most_blocks) { return {Level{0, std::move(spans)}}; }
  const double begin = spans.front().begin_us;
  double end = begin;
  for (const Block& span : spans) { end = std::max(end, end_of(span)); }
  // Spans that take no time at all lie on one point.
  const double range = std::max(end - begin, 1e-3);
  // Two blocks a bucket, and all coarser levels have a third of the finest: 2 (1 + 1/4 + 1/16 + ...) = 8/3.
  std::vector<Level> levels;
  for (std::size_t buckets = std::bit_floor(most_blocks * 3 / 8); buckets > 0; buckets /= kFiner) {
    levels.insert(levels.begin(), merged(spans, begin, range, buckets));
    if (buckets <= kCoarsest) { break; }
  }
  return levels;
}

}  // namespace elbowroom::page
