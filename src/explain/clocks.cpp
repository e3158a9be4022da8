#include "explain/clocks.hpp"

#include <algorithm>
#include <iterator>

namespace elbowroom::explain {

double below_most_clock(const Trace& trace, Interval time) {
  constexpr Time kStale = 500'000'000;  // the recorder reads clocks some five times a second
  if (trace.rows.size() == 0) { return 0; }
  const TextId device = trace.streams[trace.rows.stream.front()].device;
  auto clock = std::upper_bound(trace.clocks.begin(), trace.clocks.end(), time.begin,
                                [](Time at, const SmClock& one) { return at < one.at; });
  const auto before = std::find_if(std::make_reverse_iterator(clock), trace.clocks.rend(),
                                   [&](const SmClock& one) { return one.device == device; });
  double sum = 0;
  int readings = 0;
  if (before != trace.clocks.rend() && time.begin - before->at <= kStale) {
    sum += before->below_most;
    ++readings;
  }
  for (; clock != trace.clocks.end() && clock->at < time.end; ++clock) {
    if (clock->device != device) { continue; }
    sum += clock->below_most;
    ++readings;
  }
  return readings == 0 ? 0 : sum / readings;
}

}  // namespace elbowroom::explain
