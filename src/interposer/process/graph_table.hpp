#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer::process {

/// The priorities of a graph's nodes that count. An update must change none of them.
struct NodePriorities {
  bool of_program = false;  ///< the program asked for those that it gave
  int ours = 0;             ///< of the collectives, whatever the program gave; 0: none

  [[nodiscard]] bool are_ours() const { return ours != 0; }
};

struct ExecutableGraph {
  GraphFacts facts;
  NodePriorities priorities;
  std::uint32_t newest = 0;     ///< its launches may stand behind all collectives up to this one; 0: behind none
  std::uint32_t launches = 0;   ///< that have begun
  std::uint32_t under_way = 0;  ///< of these, those of which it is not told that they have ended
};

/// What the executable graphs of the process hold. At most kGraphs; a further one counts as one that waits, so that nothing is
/// controlled because of it or gated behind it. A look-up costs the same however many there are.
class GraphTable {
 public:
  static constexpr std::size_t kGraphs = 4096;
  static constexpr std::uint32_t kMostMeanwhile = 65536;  ///< collectives that other threads launch while one launches a graph

  /// What it holds; which launch was its last one is kept as it was.
  void put(const void* exec, const GraphFacts& facts, const NodePriorities& priorities);
  /// The graph holds that as well; how many of a kind is kept as it was.
  void add(const void* exec, const GraphFacts& facts);
  /// Before a launch, or what makes it ready: the graph as it is then, without this launch.
  ExecutableGraph begin_launch(const void* exec);
  /// After it the youngest collective was this one; 0: it is not known. Of launches by several threads at once the one after which
  /// there were most counts, as the driver may put each behind the others. `begun` is what begin_launch said. True: others may
  /// have launched the graph meanwhile.
  bool end_launch(const void* exec, const ExecutableGraph& begun, std::uint32_t newest);
  ExecutableGraph get(const void* exec);
  void remove(const void* exec);
  /// The program launches graphs on streams with priorities of its own. In a graph with priorities of ours its kernels lose them,
  /// so that no further one gets any.
  void leave_priorities() { priorities_left_ = true; }
  [[nodiscard]] bool priorities_left() const { return priorities_left_; }
  /// Whether a further graph is remembered, and may have priorities of ours.
  [[nodiscard]] bool may_take_priorities();

 private:
  static ExecutableGraph copy_of(const ExecutableGraph* known);

  OwnMutex mutex_;
  FixedTable<ExecutableGraph, 2 * kGraphs> graphs_;
  std::atomic<bool> priorities_left_{false};
};

}  // namespace elbowroom::interposer::process
