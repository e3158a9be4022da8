#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace elbowroom::interposer {

/// From one node of a graph to one that begins when it has ended, by their positions.
struct GraphEdge {
  std::uint32_t from = 0, to = 0;
};

/// At most so many blocks of the nodes run at once. Nodes that stand behind one another make a chain, of which one runs: the
/// chains' largest are added. Where they are too many, or memory is short, all nodes are. Sorts the edges.
std::uint64_t most_at_once(std::span<const std::uint64_t> blocks, std::span<GraphEdge> edges);

}  // namespace elbowroom::interposer
