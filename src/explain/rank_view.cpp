#include "explain/rank_view.hpp"

#include <algorithm>
#include <iterator>

#include "explain/words.hpp"

namespace elbowroom::explain {
namespace {

Intervals busy(const Trace& trace, Work work) {
  Intervals all;
  for (std::size_t row = 0; row < trace.rows.size(); ++row) {
    if (trace.rows.work[row] == work) { all.push_back({trace.rows.begin[row], trace.rows.end[row]}); }
  }
  return merged(std::move(all));
}

std::vector<std::uint32_t> rows_before(const Trace& trace) {
  std::vector<std::uint32_t> last(trace.streams.size(), kNone);
  std::vector<std::uint32_t> before;
  before.reserve(trace.rows.size());
  for (std::size_t row = 0; row < trace.rows.size(); ++row) {
    std::uint32_t& of_stream = last[trace.rows.stream[row]];
    before.push_back(of_stream);
    of_stream = static_cast<std::uint32_t>(row);
  }
  return before;
}

std::vector<std::pair<Time, Time>> ends_by_launch(const Trace& trace, const std::vector<std::uint32_t>& compute_rows) {
  std::vector<std::pair<Time, Time>> ends;
  for (const std::uint32_t row : compute_rows) {
    if (const std::optional<Time> launched = trace.launched(row)) { ends.emplace_back(*launched, trace.rows.end[row]); }
  }
  std::sort(ends.begin(), ends.end());
  for (std::size_t i = 1; i < ends.size(); ++i) { ends[i].second = std::max(ends[i].second, ends[i - 1].second); }
  return ends;
}

}  // namespace

std::optional<std::size_t> RankView::work_from(Time at) const {
  const auto found = std::lower_bound(work_rows.begin(), work_rows.end(), at,
                                      [&](std::uint32_t row, Time time) { return trace.rows.begin[row] < time; });
  return found == work_rows.end() ? std::nullopt : std::optional<std::size_t>(*found);
}

std::optional<Time> RankView::end_of_compute_launched_before(Time at) const {
  const auto behind = std::lower_bound(compute_ends.begin(), compute_ends.end(), at,
                                       [](const std::pair<Time, Time>& one, Time time) { return one.first < time; });
  return behind == compute_ends.begin() ? std::nullopt : std::optional(std::prev(behind)->second);
}

RankView view_of(Trace trace) {
  RankView view;
  view.trace = std::move(trace);
  view.steps = find_steps(view.trace);
  view.collectives = find_collectives(view.trace);
  view.compute = busy(view.trace, Work::compute);
  view.communication = busy(view.trace, Work::communication);
  view.copies = busy(view.trace, Work::copy);
  for (std::size_t row = 0; row < view.trace.rows.size(); ++row) {
    if (view.trace.rows.work[row] == Work::compute) { view.compute_rows.push_back(static_cast<std::uint32_t>(row)); }
    if (view.trace.rows.work[row] != Work::communication) { view.work_rows.push_back(static_cast<std::uint32_t>(row)); }
  }
  view.before = rows_before(view.trace);
  view.compute_ends = ends_by_launch(view.trace, view.compute_rows);
  view.waiting.resize(view.collectives.size());
  constexpr Time kAmdDispatch = 25'000;
  if (device_name(view.trace).starts_with("AMD")) { view.dispatch = kAmdDispatch; }
  return view;
}

}  // namespace elbowroom::explain
