#include "explain/split.hpp"

#include <algorithm>
#include <optional>

namespace elbowroom::explain {
namespace {

/// Whether the trace has a wait between streams that was put on the row's stream before the row was, behind the one before it.
bool has_recorded_wait(const RankView& view, std::size_t row, Time launched) {
  const TextId stream = view.trace.streams[view.trace.rows.stream[row]].number;
  const std::uint32_t before = view.before[row];
  const Time from = before == kNone ? launched : view.trace.launched(before).value_or(launched);
  const std::vector<StreamWait>& waits = view.trace.waits;
  auto wait = std::lower_bound(waits.begin(), waits.end(), from, [](const StreamWait& one, Time at) { return one.at < at; });
  for (; wait != waits.end() && wait->at <= launched; ++wait) {
    if (wait->stream == stream) { return true; }
  }
  return false;
}

/// When the host had launched a row. A call that loads code first (hipLaunchKernel, CUDA's lazy loading) takes up to seconds, and
/// the row follows it.
std::optional<Time> launch_done(const Trace& trace, std::size_t row) {
  const std::uint32_t launch = trace.rows.launch[row];
  if (launch == kNone) { return std::nullopt; }
  const Time end = trace.launches.end[launch];
  return end <= trace.rows.begin[row] ? end : trace.launches.begin[launch];
}

/// Adds a time in which nothing runs, up to the begin of `next`.
void add_idle(const RankView& view, Interval gap, std::optional<std::size_t> next, Split& split) {
  const std::optional<Time> launched = next ? launch_done(view.trace, *next) : std::nullopt;
  if (!launched) {
    split.waiting_unknown += gap.length();
    return;
  }
  const Time late = overlap(gap, {gap.begin, std::max(*launched, gap.begin)});
  const Time rest = gap.length() - late;
  if (late > 0 && rest <= view.dispatch) {
    split.host_not_launched += gap.length();  // the way from the host to the device is the launch's
    return;
  }
  split.host_not_launched += late;
  const bool known = rest <= view.dispatch || has_recorded_wait(view, *next, *launched);
  (known ? split.waiting_known : split.waiting_unknown) += rest;
}

/// The first row that begins at or behind `at`.
std::optional<std::size_t> row_from(const Rows& rows, Time at) {
  const auto found = std::lower_bound(rows.begin.begin(), rows.begin.end(), at);
  return found == rows.begin.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - rows.begin.begin()));
}

}  // namespace

Split split_of(const RankView& view, Interval step) {
  Split split;
  split.step = step.length();
  const Intervals compute = within(view.compute, step);
  const Intervals communication = within(view.communication, step);
  const Intervals exposed = without(communication, compute);
  const Intervals copies = without(without(within(view.copies, step), compute), communication);
  split.compute = length(compute);
  split.communication = length(communication);
  split.exposed = length(exposed);
  split.copies = length(copies);
  Intervals busy = compute;
  busy.insert(busy.end(), exposed.begin(), exposed.end());
  busy.insert(busy.end(), copies.begin(), copies.end());
  for (const Interval& gap : without({step}, merged(std::move(busy)))) {
    add_idle(view, gap, row_from(view.trace.rows, gap.end), split);
  }
  return split;
}

}  // namespace elbowroom::explain
