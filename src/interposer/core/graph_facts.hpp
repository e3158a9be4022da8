#pragma once

#include <cstdint>

#include "interposer/core/handles.hpp"

namespace elbowroom::interposer {

struct GraphFacts {
  std::uint32_t collectives = 0;   ///< kernel nodes recognised as communication
  std::uint32_t computes = 0;      ///< other kernel nodes
  std::uint64_t first_blocks = 0;  ///< of collectives with the greatest priority, at most at once
  /// It waits for the host, another process or a condition, or what it holds is not known: a gate behind it could wait for ever.
  bool waits = false;
  bool records = false;  ///< events of the program, or what it holds is not known
};

/// The launch of a graph.
struct GraphStep {
  std::uint64_t step = 0;    ///< that begins with it, as Decision::step; 0: none does, or nobody waits for its time
  ContextId context = 0;     ///< of the stream
  std::uint32_t newest = 0;  ///< number of the youngest collective by then; 0: the launch is not followed
  bool joins = false;        ///< Decision::joins
  Ticket ticket = 0;         ///< of its collectives, for Core::after_graph
  WaitId wait = 0;           ///< for the launches of the graph that the driver takes before
};

}  // namespace elbowroom::interposer
