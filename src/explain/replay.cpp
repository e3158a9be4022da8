#include "explain/replay.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "explain/communication.hpp"
#include "explain/delays.hpp"
#include "explain/inflation.hpp"

namespace elbowroom::explain {
namespace {

Time median_or(std::vector<Time> times, Time otherwise) {
  if (times.empty()) { return otherwise; }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// The rows of each stream in the order of `key`.
template <class Key>
std::vector<std::vector<std::pair<Key, std::uint32_t>>> by_stream(const Trace& trace, const std::vector<Key>& keys) {
  std::vector<std::vector<std::pair<Key, std::uint32_t>>> result(trace.streams.size());
  for (std::size_t row = 0; row < trace.rows.size(); ++row) {
    if (trace.rows.launch[row] == kNone) { continue; }
    result[trace.rows.stream[row]].emplace_back(keys[row], static_cast<std::uint32_t>(row));
  }
  for (auto& rows : result) { std::sort(rows.begin(), rows.end()); }
  return result;
}

}  // namespace

Replay::Replay(const RankView& view)
    : view_(view),
      collective_(view.trace.rows.size(), kNone),
      lost_race_(view.collectives.size()),
      overtakes_(view.trace.rows.size()),
      pace_(view.trace.rows.size()),
      budget_(view) {
  const Rows& rows = view.trace.rows;
  for (std::size_t row = 0; row < rows.size(); ++row) { by_end_.emplace_back(rows.end[row], static_cast<std::uint32_t>(row)); }
  std::sort(by_end_.begin(), by_end_.end());
  for (std::size_t i = 0; i < view.collectives.size(); ++i) {
    const Collective& one = view.collectives[i];
    if (one.rows == 1) { collective_[one.row] = static_cast<std::uint32_t>(i); }
    const Delay delay = delay_of(view, i);
    lost_race_[i] = delay.by_compute;
    if (delay.runner) { overtakes_[*delay.runner] = true; }
  }
  if (view.trace.waits.empty()) {
    add_seen_waits();
    add_collectives();
  } else {
    add_recorded_waits();
  }
  std::sort(edges_.begin(), edges_.end());
  add_host_waits();
  measure_lags();
  measure_paces();
}

/// A wait holds up the next row that is launched on its stream, until the last row is done that was launched before the event.
void Replay::add_recorded_waits() {
  const Trace& trace = view_.trace;
  std::vector<Time> launched(trace.rows.size());
  for (std::size_t row = 0; row < launched.size(); ++row) { launched[row] = trace.launched(row).value_or(0); }
  const auto launches = by_stream(trace, launched);
  const auto correlations = by_stream(trace, trace.rows.correlation);
  std::unordered_map<TextId, std::uint32_t> streams;
  for (std::uint32_t i = 0; i < trace.streams.size(); ++i) { streams.emplace(trace.streams[i].number, i); }
  for (const StreamWait& wait : trace.waits) {
    const auto waits = streams.find(wait.stream);
    const auto on = streams.find(wait.on);
    if (waits == streams.end() || on == streams.end() || waits->second == on->second) { continue; }
    const auto& behind = launches[waits->second];
    const auto& before = correlations[on->second];
    const auto row = std::lower_bound(behind.begin(), behind.end(), std::pair(wait.at, std::uint32_t{0}));
    const auto event = std::upper_bound(before.begin(), before.end(), std::pair(wait.correlation, kNone));
    if (row == behind.end() || event == before.begin()) { continue; }
    const std::uint32_t producer = std::prev(event)->second;
    if (can_wait(row->second, producer)) { edges_.emplace_back(row->second, producer); }
  }
}

/// Nothing waits for what is launched later.
bool Replay::can_wait(std::size_t row, std::uint32_t producer) const {
  const Rows& rows = view_.trace.rows;
  const std::optional<Time> own = view_.trace.launched(row);
  const std::optional<Time> other = view_.trace.launched(producer);
  return producer < row && rows.end[producer] <= rows.begin[row] && (!own || !other || *other <= *own);
}

bool Replay::explained(std::size_t row) const {
  const Rows& rows = view_.trace.rows;
  const std::uint32_t before = view_.before[row];
  const std::optional<Time> launched = view_.trace.launched(row);
  return (before != kNone && rows.begin[row] - rows.end[before] <= view_.dispatch) ||
         (launched && rows.begin[row] - *launched <= view_.dispatch);
}

std::uint32_t Replay::ended_at(Time at, Time from) const {
  const auto behind = std::upper_bound(by_end_.begin(), by_end_.end(), std::pair(at, kNone));
  if (behind == by_end_.begin()) { return kNone; }
  const auto [end, row] = *std::prev(behind);
  return end >= from && view_.trace.rows.begin[row] < at ? row : kNone;
}

void Replay::add_seen_waits() {
  const Rows& rows = view_.trace.rows;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (explained(row)) { continue; }
    const std::uint32_t producer = ended_at(rows.begin[row], rows.begin[row] - view_.dispatch);
    if (producer != kNone && can_wait(row, producer)) { edges_.emplace_back(static_cast<std::uint32_t>(row), producer); }
  }
}

/// A collective waits for the computation that was launched before it.
void Replay::add_collectives() {
  std::vector<std::pair<Time, std::uint32_t>> launches;
  for (const std::uint32_t row : view_.compute_rows) {
    if (const auto launched = view_.trace.launched(row)) { launches.emplace_back(*launched, row); }
  }
  std::sort(launches.begin(), launches.end());
  for (const Collective& one : view_.collectives) {
    if (!one.launched) { continue; }
    const auto behind = std::lower_bound(launches.begin(), launches.end(), std::pair(*one.launched, std::uint32_t{0}));
    if (behind == launches.begin()) { continue; }
    const std::uint32_t producer = std::prev(behind)->second;
    if (can_wait(one.row, producer)) { edges_.emplace_back(static_cast<std::uint32_t>(one.row), producer); }
  }
}

void Replay::add_host_waits() {
  const Launches& calls = view_.trace.launches;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    if (view_.trace.texts.text(calls.name[call]).find("Synchronize") == std::string::npos) { continue; }
    const std::uint32_t row = ended_at(calls.end[call], std::max(calls.begin[call], calls.end[call] - 2 * view_.dispatch));
    if (row != kNone) { host_waits_.push_back({calls.end[call], row}); }
  }
  std::sort(host_waits_.begin(), host_waits_.end(), [](const HostWait& a, const HostWait& b) { return a.end < b.end; });
}

void Replay::measure_lags() {
  const Rows& rows = view_.trace.rows;
  std::vector<Time> gaps;
  std::vector<Time> latencies;
  std::vector<Time> hand_overs;
  auto edge = edges_.begin();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Time producers = -1;
    for (; edge != edges_.end() && edge->first == row; ++edge) { producers = std::max(producers, rows.end[edge->second]); }
    const std::uint32_t before = view_.before[row];
    const std::optional<Time> launched = view_.trace.launched(row);
    const Time free = before == kNone ? 0 : rows.end[before];
    if (producers >= 0) {
      hand_overs.push_back(rows.begin[row] - producers);
    } else if (launched && *launched > free) {
      latencies.push_back(rows.begin[row] - *launched);
    } else if (launched && before != kNone) {
      gaps.push_back(rows.begin[row] - free);
    }
  }
  for (std::vector<Time>* times : {&gaps, &latencies, &hand_overs}) {
    std::erase_if(*times, [&](Time time) { return time < 0 || time > 2 * view_.dispatch; });
  }
  gap_ = median_or(std::move(gaps), 1'500);
  latency_ = median_or(std::move(latencies), 5'000);
  hand_over_ = median_or(std::move(hand_overs), 2'000);
}

void Replay::measure_paces() {
  std::map<std::string, double, std::less<>> classes;
  for (const Inflation& one : inflation_of(view_)) {
    if (one.alone > 0 && one.alone + one.more > 0) {
      classes[one.kernels] = static_cast<double>(one.more) / static_cast<double>(one.alone);
    }
  }
  const Rows& rows = view_.trace.rows;
  Intervals symmetric;
  for (const Collective& one : view_.collectives) {
    if (has_symmetric_kernel(view_.trace, one)) { symmetric.push_back(one.time); }
  }
  symmetric = merged(std::move(symmetric));
  std::unordered_map<TextId, RowPace> of_name;
  for (const std::uint32_t row : view_.compute_rows) {
    const auto [known, fresh] = of_name.try_emplace(rows.name[row]);
    RowPace& pace = known->second;
    if (fresh) {
      const std::string_view kernels = kernel_class(view_.trace.texts.text(rows.name[row]));
      const auto found = classes.find(kernels);
      if (found != classes.end()) { pace = {1 / (1 + found->second), found->second, true}; }
      // A persistent kernel of as many blocks as SMs takes two rounds as soon as some SMs are taken.
      pace.by_traffic = kernels != "gemm" && kernels != "attention" && kernels != "convolution";
    }
    const Interval time{rows.begin[row], rows.end[row]};
    pace_[row] = pace;
    if (2 * length_within(view_.communication, time) < time.length()) { pace_[row].alone = 1; }
    pace_[row].beside_symmetric = 2 * length_within(symmetric, time) >= time.length();
  }
}

/// One step under one change. Rows are taken in the order of their begin: none waits for one that began later.
class Replay::Pass {
 public:
  Pass(const Replay& replay, const Conditions& conditions, Interval step) : replay_(replay), conditions_(conditions), step_(step) {
    const std::vector<Time>& begins = rows().begin;
    first_ = static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), step.begin) - begins.begin());
    edge_ = std::lower_bound(replay.edges_.begin(), replay.edges_.end(), Edge(static_cast<std::uint32_t>(first_), 0));
    wait_ = std::lower_bound(replay.host_waits_.begin(), replay.host_waits_.end(), step.begin,
                             [](const HostWait& one, Time at) { return one.end < at; });
  }

  Time length() {
    Time last = step_.begin;
    for (std::size_t row = first_; row < rows().size() && rows().begin[row] <= step_.end; ++row) {
      hear_of_waits(rows().begin[row]);
      const Time begin = begin_of(row);
      // The step ends with the next one's first kernel.
      if (rows().begin[row] == step_.end && rows().work[row] == Work::compute) { return begin - step_.begin; }
      ends_.push_back(begin + duration(row, begin));
      if (rows().work[row] == Work::communication) { communicates_until_ = std::max(communicates_until_, ends_.back()); }
      last = std::max(last, ends_.back());
    }
    return last - step_.begin;
  }

 private:
  [[nodiscard]] const Rows& rows() const { return replay_.view_.trace.rows; }
  [[nodiscard]] Time end_of(std::size_t row) const { return row < first_ ? rows().end[row] : ends_[row - first_]; }

  /// Host calls up to `at`: what the host launches behind them comes earlier or later by as much as the row that they waited for.
  void hear_of_waits(Time at) {
    for (; wait_ != replay_.host_waits_.end() && wait_->end <= at; ++wait_) {
      const bool done = wait_->row < first_ + ends_.size();
      if (done) { shifts_.emplace_back(wait_->end, end_of(wait_->row) - rows().end[wait_->row]); }
    }
  }

  [[nodiscard]] Time launched(Time at) const {
    const auto behind =
        std::upper_bound(shifts_.begin(), shifts_.end(), at, [](Time time, const auto& shift) { return time < shift.first; });
    return behind == shifts_.begin() ? at : at + std::prev(behind)->second;
  }

  Time begin_of(std::size_t row) {
    Time begin = step_.begin;
    const std::uint32_t collective = replay_.collective_[row];
    std::uint32_t before = replay_.view_.before[row];
    if (collective != kNone && conditions_.own_streams) {
      while (before != kNone && replay_.collective_[before] != kNone) { before = replay_.view_.before[before]; }
    }
    const bool is_first = rows().begin[row] == step_.begin;
    if (before != kNone && !is_first) { begin = std::max(begin, end_of(before) + replay_.gap_); }
    const std::optional<Time> host = replay_.view_.trace.launched(row);
    if (host && !is_first && !conditions_.host_ahead) { begin = std::max(begin, launched(*host) + replay_.latency_); }
    for (; edge_ != replay_.edges_.end() && edge_->first == row; ++edge_) {
      if (!is_first) { begin = std::max(begin, end_of(edge_->second) + replay_.hand_over_); }
    }
    if (conditions_.gate && replay_.overtakes_[row] && !is_first) {
      begin += 2 * replay_.hand_over_;  // to the collective, and back to this row
    }
    const bool overtaken = collective != kNone && !conditions_.communication_first && !conditions_.gate;
    return overtaken ? begin + replay_.lost_race_[collective] : begin;
  }

  [[nodiscard]] Time duration(std::size_t row, Time begin) const {
    const Time whole = rows().end[row] - rows().begin[row];
    if (rows().work[row] == Work::communication) {
      const std::uint32_t collective = replay_.collective_[row];
      const Time waited = collective == kNone ? 0 : std::min(replay_.view_.waiting[collective].value_or(0), whole);
      auto transfer = static_cast<Time>(static_cast<double>(whole - waited) * conditions_.transfer);
      if (conditions_.comm_blocks > 0) { transfer = replay_.budget_.transfer(row, transfer, conditions_.comm_blocks); }
      return transfer + (conditions_.peers_on_time ? 0 : waited);
    }
    const auto alone = static_cast<Time>(static_cast<double>(whole) * replay_.pace_[row].alone);
    if (conditions_.by_class) { return beside_communication(row, alone, begin); }
    return conditions_.undisturbed || (conditions_.symmetric && replay_.pace_[row].beside_symmetric) ? alone : whole;
  }

  /// Of a row that takes `alone` by itself: slower as long as a collective runs that began before it.
  [[nodiscard]] Time beside_communication(std::size_t row, Time alone, Time begin) const {
    const RowPace& pace = replay_.pace_[row];
    const bool fewer_bytes = conditions_.comm_blocks > 0 && pace.by_traffic;
    const double slower = 1 + std::max(pace.more, 0.0) * (fewer_bytes ? replay_.budget_.rate_ratio(conditions_.comm_blocks) : 1);
    const auto beside = static_cast<double>(std::max<Time>(communicates_until_ - begin, 0));
    const double done = std::min(beside / slower, static_cast<double>(alone));
    return alone + static_cast<Time>(done * (slower - 1));
  }

  const Replay& replay_;
  const Conditions& conditions_;
  Interval step_;
  std::size_t first_ = 0;
  std::vector<Edge>::const_iterator edge_;
  std::vector<HostWait>::const_iterator wait_;
  Time communicates_until_ = 0;
  std::vector<Time> ends_;                     ///< of the rows from the first on
  std::vector<std::pair<Time, Time>> shifts_;  ///< of the host, from a time on
};

Time Replay::length(Interval step, const Conditions& conditions) const { return Pass(*this, conditions, step).length(); }

}  // namespace elbowroom::explain
