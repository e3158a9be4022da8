#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "preload/core/core.hpp"
#include "preload/driver_abi.hpp"

namespace headroom::preload {

struct Interposer;

/// What the executable graphs of the process hold. At most kGraphs; a further one counts as empty, so that nothing is controlled
/// because of it.
class GraphTable {
 public:
  static constexpr std::size_t kGraphs = 4096;

  void put(cu::GraphExec exec, const GraphFacts& facts);
  GraphFacts get(cu::GraphExec exec);
  void remove(cu::GraphExec exec);

 private:
  struct Entry {
    cu::GraphExec exec = nullptr;
    GraphFacts facts;
  };
  std::mutex mutex_;
  std::array<Entry, kGraphs> entries_{};
  std::size_t used_ = 0;
};

/// What a graph holds, child graphs included, read node by node: however its nodes were made.
GraphFacts read_graph(Interposer& state, cu::Graph graph);

/// Gives the graph's collectives the greatest priority where the policy says so. True: some have one, and the graph must be
/// instantiated with node priorities for it to count.
bool prioritise_collectives(Interposer& state, cu::Graph graph);

}  // namespace headroom::preload
