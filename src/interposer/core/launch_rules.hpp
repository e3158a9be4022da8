#pragma once

#include <cstdint>
#include <optional>

#include "interposer/core/core_state.hpp"

/// What becomes of one launch, rule by rule.
namespace elbowroom::interposer {

/// One launch on its way through the rules.
struct Launch {
  CoreState& state;
  const LaunchFacts& facts;
  KernelRecord& kernel;
  LaunchKind& kind;
  Stream& stream;
  Order& order;
  bool captured;
  Decision& decision;
  std::uint32_t cap;  ///< blocks per SM; 0: none
  TicketFields ticket;
  Interval expected{};
  std::optional<PassTerms> passes{};  ///< those like it may take the short way
};

/// It takes its place in the order, and may go first and get an event that tells of its begin.
void decide_collective(Launch& launch);
/// Its place in the order alone.
void place_collective(Launch& launch);

}  // namespace elbowroom::interposer
