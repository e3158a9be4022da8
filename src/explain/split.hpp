#pragma once

#include "explain/rank_view.hpp"

namespace elbowroom::explain {

/// Where the time of one step goes. compute + copies + exposed + the three kinds of idle are the step: each instant is in one.
struct Split {
  Time step = 0;
  Time compute = 0;
  Time communication = 0;      ///< any; beside computation too
  Time exposed = 0;            ///< communication without computation: an upper bound of what hiding saves
  Time copies = 0;             ///< copies and sets alone
  Time host_not_launched = 0;  ///< idle: the host had not launched what runs next
  Time waiting_known = 0;      ///< idle: launched, and what it waited for is known
  Time waiting_unknown = 0;    ///< idle: launched, and what it waited for is not in the trace

  [[nodiscard]] Time idle() const { return host_not_launched + waiting_known + waiting_unknown; }
};

Split split_of(const RankView& view, Interval step);

}  // namespace elbowroom::explain
