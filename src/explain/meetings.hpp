#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explain/rank_view.hpp"

namespace elbowroom::explain {

struct Participant {
  std::size_t rank = 0;        ///< an index into the views
  std::size_t collective = 0;  ///< of that view
};

/// One collective, as all ranks took part whose traces are there. Clocks of ranks need not agree: all are done together, so that
/// the shortest participant came last and lasted as long as the transfer.
struct Meeting {
  std::vector<Participant> participants;  ///< two at least, in the order of ranks
  Time transfer = 0;
  std::size_t last = 0;  ///< the rank that came last
  Time waited = 0;       ///< by the others for it, in the median
};

/// Matches collectives by sequence numbers where all have them, else by their order within a group. Where counts differ, as traces
/// begin and end apart, that shift counts under which most are alike, and of such the one under which ends lie evenly apart.
std::vector<Meeting> meet(const std::vector<RankView>& ranks);

/// Fills RankView::waiting.
void add_waiting(const std::vector<Meeting>& meetings, std::vector<RankView>& ranks);

}  // namespace elbowroom::explain
