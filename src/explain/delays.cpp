#include "explain/delays.hpp"

#include <algorithm>

namespace elbowroom::explain {
namespace {

/// The computing row that covers most of `time` and was launched behind `launched`.
std::optional<std::size_t> longest_runner(const RankView& view, Interval time, Time launched) {
  std::optional<std::size_t> best;
  Time most = 0;
  const Rows& rows = view.trace.rows;
  auto behind = std::lower_bound(view.compute_rows.begin(), view.compute_rows.end(), time.end,
                                 [&](std::uint32_t row, Time at) { return rows.begin[row] < at; });
  // Kernels that began long before are over by then, but for a few.
  for (int looked = 0; behind != view.compute_rows.begin() && looked < 256; ++looked) {
    const std::size_t row = *--behind;
    const std::optional<Time> own = view.trace.launched(row);
    const Time covered = overlap(time, {rows.begin[row], rows.end[row]});
    if (own && *own > launched && covered > most) {
      most = covered;
      best = row;
    }
  }
  return best;
}

/// The collective before this one on its stream; absent where there is none.
std::optional<std::size_t> before_on_stream(const RankView& view, std::size_t collective) {
  for (std::size_t i = collective; i-- > 0;) {
    if (view.collectives[i].stream == view.collectives[collective].stream) { return i; }
    if (collective - i > 64) { break; }
  }
  return std::nullopt;
}

}  // namespace

Delay delay_of(const RankView& view, std::size_t index) {
  Delay delay;
  const Collective& collective = view.collectives[index];
  if (!collective.launched) { return delay; }
  const Time begin = collective.time.begin;
  // A recording that begins within a program's run has launches whose kernels come seconds later, and nothing of what ran
  // meanwhile.
  Time ready = std::max(*collective.launched, view.trace.rows.begin.front());
  if (const auto done = view.end_of_compute_launched_before(*collective.launched)) {
    ready = std::max(ready, std::min(*done, begin));
  }
  const std::optional<std::size_t> queue = before_on_stream(view, index);
  const Time free = queue ? view.collectives[*queue].time.end : ready;
  if (queue && free > ready && begin - free <= view.dispatch && begin >= free) {
    delay.by_collective = begin - ready;
    delay.queue = queue;
    return delay;
  }
  const Interval late{std::max(ready, free), begin};
  if (late.length() <= view.dispatch) { return delay; }
  delay.runner = longest_runner(view, late, *collective.launched);
  if (delay.runner) { delay.by_compute = late.length(); }
  return delay;
}

std::size_t last_queued_behind(const RankView& view, std::size_t collective) {
  constexpr std::size_t kFarthest = 64;
  std::size_t last = collective;
  for (std::size_t i = collective + 1; i < view.collectives.size() && i - last <= kFarthest; ++i) {
    if (view.collectives[i].stream != view.collectives[last].stream) { continue; }
    if (delay_of(view, i).queue != last) { break; }
    last = i;
  }
  return last;
}

}  // namespace elbowroom::explain
