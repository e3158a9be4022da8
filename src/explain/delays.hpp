#pragma once

#include <cstddef>
#include <optional>

#include "explain/rank_view.hpp"

namespace elbowroom::explain {

/// How long a collective was launched and did not begin, behind all that it can depend on: what the host had launched before it.
struct Delay {
  Time by_compute = 0;                ///< while computation ran that was launched later, or that it need not wait for
  Time by_collective = 0;             ///< behind another collective of its stream
  std::optional<std::size_t> runner;  ///< the computation that ran longest meanwhile
  std::optional<std::size_t> queue;   ///< the collective that it stood behind
};

Delay delay_of(const RankView& view, std::size_t collective);

/// The last of the collectives that stand behind this one on its stream, each ready before the one in front ended; this one where
/// none does.
std::size_t last_queued_behind(const RankView& view, std::size_t collective);

}  // namespace elbowroom::explain
