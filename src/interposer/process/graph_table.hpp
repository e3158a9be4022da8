#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer::process {

struct ExecutableGraph {
  GraphFacts facts;
  bool node_priorities = false;  ///< instantiated with priorities of ours, which an update must not change
  std::uint32_t newest = 0;      ///< GraphStep::newest of its last launch
};

/// What the executable graphs of the process hold. At most kGraphs; a further one counts as one that waits, so that nothing is
/// controlled because of it or gated behind it. A look-up costs the same however many there are.
class GraphTable {
 public:
  static constexpr std::size_t kGraphs = 4096;
  static constexpr std::uint32_t kMostMeanwhile = 65536;  ///< collectives that other threads launch while one launches a graph

  /// What it holds; which launch was its last one is kept as it was.
  void put(const void* exec, const GraphFacts& facts, bool node_priorities);
  /// The graph holds that as well; how many of a kind is kept as it was.
  void add(const void* exec, const GraphFacts& facts);
  /// Before the launch the youngest collective was this one; 0: it is not known. Of launches by several threads at once the one
  /// before which there were most counts, as the driver may put each behind the others.
  void launched(const void* exec, std::uint32_t newest);
  ExecutableGraph get(const void* exec);
  void remove(const void* exec);
  /// The program launches graphs on streams with priorities of its own. In a graph with priorities of ours its kernels lose them,
  /// so that no further one gets any.
  void leave_priorities() { priorities_left_ = true; }
  [[nodiscard]] bool priorities_left() const { return priorities_left_; }
  /// Whether a further graph is remembered, and may have priorities of ours.
  [[nodiscard]] bool may_take_priorities();

 private:
  OwnMutex mutex_;
  FixedTable<ExecutableGraph, 2 * kGraphs> graphs_;
  std::atomic<bool> priorities_left_{false};
};

}  // namespace elbowroom::interposer::process
