#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elbowroom/trace/rank_interval.hpp"
#include "explain/rank_view.hpp"

namespace elbowroom::explain {

/// What a change would make of a step.
struct WhatIf {
  std::string change;
  std::string words;     ///< "kernels last as long as alone"
  RankInterval step;     ///< what the median step would be; zero where refused
  double ratio = 1;      ///< of that to the median step
  bool ceiling = false;  ///< no control reaches it: the most that controls of this kind can gain
  std::string how;       ///< a command line or what to do; empty where nothing is known
  std::string refused;   ///< why it cannot act, or nothing can be said of it
};

struct WhatIfs {
  std::vector<WhatIf> changes;         ///< those that gain most first, the refused ones last
  std::optional<double> replay_error;  ///< of a step, in the median; absent without communication
};

/// Of all ranks' steps, whose median is `median`. A trace whose steps the replay misses by more than a twentieth gets no
/// predictions.
WhatIfs what_if(const std::vector<RankView>& views, Microseconds median);

}  // namespace elbowroom::explain
