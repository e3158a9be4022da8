#include "interposer/core/graph_width.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <numeric>

namespace elbowroom::interposer {
namespace {

constexpr std::size_t kMaxGraphChains = 16;

struct Node {
  std::array<std::uint32_t, kMaxGraphChains> before{};  ///< so many of each chain end before it begins, itself included
  std::uint32_t edges_in = 0;                           ///< from nodes that were not looked at yet
};

/// Of nodes, each behind the one before it.
struct Chain {
  std::uint32_t nodes = 0;
  std::uint64_t most = 0;
};

using Chains = std::array<Chain, kMaxGraphChains>;

/// False: none has room for it.
bool put(Node& node, std::uint64_t blocks, Chains& chains) {
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (node.before[i] != chains[i].nodes) { continue; }
    node.before[i] = ++chains[i].nodes;
    chains[i].most = std::max(chains[i].most, blocks);
    return true;
  }
  return false;
}

void join(Node& into, const Node& other) {
  for (std::size_t i = 0; i < into.before.size(); ++i) { into.before[i] = std::max(into.before[i], other.before[i]); }
}

}  // namespace

std::uint64_t most_at_once(std::span<const std::uint64_t> blocks, std::span<GraphEdge> edges) {
  const std::uint64_t all = std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  const std::unique_ptr<Node[]> nodes(new (std::nothrow) Node[blocks.size()]);
  const std::unique_ptr<std::uint32_t[]> ready(new (std::nothrow) std::uint32_t[blocks.size()]);
  if (nodes == nullptr || ready == nullptr) { return all; }
  std::ranges::sort(edges, {}, &GraphEdge::from);
  for (const GraphEdge& edge : edges) { ++nodes[edge.to].edges_in; }
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (nodes[i].edges_in == 0) { ready[count++] = i; }
  }
  Chains chains{};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t at = ready[i];
    if (blocks[at] != 0 && !put(nodes[at], blocks[at], chains)) { return all; }
    for (const GraphEdge& edge : std::ranges::equal_range(edges, at, {}, &GraphEdge::from)) {
      join(nodes[edge.to], nodes[at]);
      if (--nodes[edge.to].edges_in == 0) { ready[count++] = edge.to; }
    }
  }
  if (count != blocks.size()) { return all; }
  return std::accumulate(chains.begin(), chains.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Chain& chain) { return sum + chain.most; });
}

}  // namespace elbowroom::interposer
