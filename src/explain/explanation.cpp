#include "explain/explanation.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "explain/meetings.hpp"
#include "explain/rank_view.hpp"
#include "explain/trace_order.hpp"
#include "explain/words.hpp"

namespace elbowroom::explain {
namespace {

double us_of(Time time) { return static_cast<double>(time) / 1000; }

double median_us(std::vector<Time> times) {
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? us_of(times[middle]) : us_of(times[middle - 1] + times[middle]) / 2;
}

/// A view for each rank and device, ordered by rank.
std::vector<RankView> views_of(std::vector<Trace> traces) {
  std::map<std::int64_t, std::size_t> of_rank;
  std::vector<Trace> whole;
  for (Trace& trace : traces) {
    if (trace.rank) {
      const auto [found, fresh] = of_rank.try_emplace(*trace.rank, whole.size());
      if (!fresh) {
        append(whole[found->second], trace);
        continue;
      }
    }
    whole.push_back(std::move(trace));
  }
  std::stable_sort(whole.begin(), whole.end(), [](const Trace& a, const Trace& b) {
    return a.rank && b.rank ? *a.rank < *b.rank : a.rank.has_value() && !b.rank.has_value();
  });
  std::vector<RankView> views;
  for (Trace& trace : whole) {
    for (Trace& one : per_device(std::move(trace))) { views.push_back(view_of(std::move(one))); }
  }
  return views;
}

std::string label_of(const std::vector<RankView>& views, std::size_t index) {
  const std::optional<std::int64_t>& rank = views[index].trace.rank;
  return std::to_string(rank ? *rank : static_cast<std::int64_t>(index));
}

void add(Parts& parts, const Split& split, Time blocking) {
  parts.step += us_of(split.step);
  parts.compute += us_of(split.compute);
  parts.communication += us_of(split.communication);
  parts.exposed += us_of(split.exposed);
  parts.blocking += us_of(blocking);
  parts.copies += us_of(split.copies);
  parts.host_not_launched += us_of(split.host_not_launched);
  parts.waiting_known += us_of(split.waiting_known);
  parts.waiting_unknown += us_of(split.waiting_unknown);
}

void divide(Parts& parts, std::size_t by) {
  for (double* part : {&parts.step, &parts.compute, &parts.communication, &parts.exposed, &parts.blocking, &parts.copies,
                       &parts.host_not_launched, &parts.waiting_known, &parts.waiting_unknown}) {
    *part /= static_cast<double>(by);
  }
}

/// Exposures of one kind and cause; the longest of them stands for the others.
struct CostSum {
  Time sum = 0;
  std::size_t count = 0;
  Time longest = 0;
  std::string evidence;
  std::string rank;
};
using CostKey = std::tuple<std::string, std::int64_t, Cause>;  // bytes below zero: not said
using CostSums = std::map<CostKey, CostSum>;

std::int64_t bytes_key(const Collective& collective) { return collective.bytes.value_or(-1); }
std::optional<std::int64_t> bytes_of(std::int64_t key) { return key < 0 ? std::nullopt : std::optional(key); }

void add_exposures(const RankView& view, const std::string& rank, const Split& split, const std::vector<Exposure>& exposures,
                   CostSums& sums) {
  for (const Exposure& exposure : exposures) {
    const Collective& collective = view.collectives[exposure.collective];
    CostSum& sum = sums[{collective.op, bytes_key(collective), exposure.cause}];
    sum.sum += exposure.time.length();
    ++sum.count;
    if (exposure.time.length() <= sum.longest) { continue; }
    sum.longest = exposure.time.length();
    sum.evidence = evidence_of(view, exposure, split);
    sum.rank = rank;
  }
}

std::vector<Cost> costs_of(const CostSums& sums, std::size_t steps) {
  std::vector<Cost> costs;
  for (const auto& [key, sum] : sums) {
    costs.push_back({std::get<0>(key), bytes_of(std::get<1>(key)), std::get<2>(key), us_of(sum.sum) / static_cast<double>(steps),
                     sum.count, sum.evidence, sum.rank});
  }
  std::stable_sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.us > b.us; });
  return costs;
}

std::vector<Straggler> stragglers_of(const std::vector<RankView>& views, const std::vector<Meeting>& meetings, double steps) {
  std::vector<Straggler> result(views.size());
  std::vector<std::vector<Time>> waited(views.size());
  for (const Meeting& meeting : meetings) {
    for (const Participant& one : meeting.participants) { ++result[one.rank].of; }
    waited[meeting.last].push_back(meeting.waited);
  }
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    Straggler& one = result[rank];
    one.rank = label_of(views, rank);
    one.last = waited[rank].size();
    if (one.last == 0) { continue; }
    for (const Time time : waited[rank]) { one.waited_sum_us += us_of(time) / steps; }
    one.waited_us = median_us(std::move(waited[rank]));
  }
  std::erase_if(result, [](const Straggler& one) { return one.last == 0; });
  std::stable_sort(result.begin(), result.end(),
                   [](const Straggler& a, const Straggler& b) { return a.waited_sum_us > b.waited_sum_us; });
  return result;
}

struct KindSum {
  std::vector<std::size_t> count;
  std::vector<Time> lengths, transfers, waits;
  Time sum = 0;
  std::optional<double> imbalance;
};

std::vector<CollectiveKind> kinds_of(const std::vector<RankView>& views, const std::vector<Meeting>& meetings) {
  std::map<std::pair<std::string, std::int64_t>, KindSum> sums;
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    for (const Collective& one : views[rank].collectives) {
      KindSum& sum = sums[{one.op, bytes_key(one)}];
      sum.count.resize(views.size());
      ++sum.count[rank];
      sum.lengths.push_back(one.time.length());
      sum.sum += one.time.length();
      if (one.imbalance) { sum.imbalance = std::max(sum.imbalance.value_or(0), *one.imbalance); }
    }
  }
  for (const Meeting& meeting : meetings) {
    const Participant& first = meeting.participants.front();
    const Collective& one = views[first.rank].collectives[first.collective];
    KindSum& sum = sums[{one.op, bytes_key(one)}];
    sum.transfers.push_back(meeting.transfer);
    sum.waits.push_back(meeting.waited);
  }
  std::vector<std::pair<Time, CollectiveKind>> kinds;
  for (auto& [key, sum] : sums) {
    CollectiveKind kind{key.first, bytes_of(key.second), std::move(sum.count), median_us(std::move(sum.lengths)), {},
                        {},        sum.imbalance};
    if (!sum.transfers.empty()) {
      kind.transfer_us = median_us(std::move(sum.transfers));
      kind.waiting_us = median_us(std::move(sum.waits));
    }
    kinds.emplace_back(sum.sum, std::move(kind));
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<CollectiveKind> result;
  result.reserve(kinds.size());
  for (auto& [sum, kind] : kinds) { result.push_back(std::move(kind)); }
  return result;
}

std::vector<ClassInflation> inflation_over(const std::vector<RankView>& views, double steps) {
  std::map<std::string, Inflation> sums;
  for (const RankView& view : views) {
    for (const Inflation& one : inflation_of(view)) {
      Inflation& sum = sums[one.kernels];
      sum.more += one.more;
      sum.alone += one.alone;
      sum.runs += one.runs;
      sum.unknown += one.unknown;
    }
  }
  std::vector<ClassInflation> result;
  for (const auto& [kernels, sum] : sums) {
    const auto ratio =
        sum.alone > 0 ? std::optional(static_cast<double>(sum.alone + sum.more) / static_cast<double>(sum.alone)) : std::nullopt;
    result.push_back({kernels, us_of(sum.more) / steps, ratio, sum.runs, sum.unknown});
  }
  std::stable_sort(result.begin(), result.end(), [](const ClassInflation& a, const ClassInflation& b) { return a.us > b.us; });
  return result;
}

std::vector<KernelTime> kernels_over(const std::vector<RankView>& views, double steps) {
  std::map<std::string, Time> sums;
  for (const RankView& view : views) {
    const Intervals windows = merged(view.steps.windows);
    std::map<TextId, Time> own;
    for (const std::uint32_t row : view.compute_rows) {
      own[view.trace.rows.name[row]] += length_within(windows, {view.trace.rows.begin[row], view.trace.rows.end[row]});
    }
    for (const auto& [name, time] : own) { sums[short_name(view.trace.texts.text(name))] += time; }
  }
  std::vector<KernelTime> result;
  result.reserve(sums.size());
  for (const auto& [name, time] : sums) { result.push_back({name, us_of(time) / steps}); }
  return result;
}

RankSummary summary_of(const RankView& view, const std::string& rank) {
  RankSummary summary;
  summary.rank = rank;
  summary.file = view.trace.file;
  summary.steps = view.steps.windows.size();
  summary.dropped = view.steps.dropped;
  summary.anchor = view.steps.anchor;
  summary.collectives = view.collectives.size();
  summary.matched = static_cast<std::size_t>(
      std::count_if(view.waiting.begin(), view.waiting.end(), [](const std::optional<Time>& time) { return time.has_value(); }));
  summary.lost = view.trace.lost;
  return summary;
}

}  // namespace

Explanation explain(std::vector<Trace> traces) {
  std::vector<RankView> views = views_of(std::move(traces));
  const std::vector<Meeting> meetings = meet(views);
  add_waiting(meetings, views);
  Explanation result;
  result.device = device_name(views.front().trace);
  CostSums sums;
  std::vector<Microseconds> steps;
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    const RankView& view = views[rank];
    RankSummary summary = summary_of(view, label_of(views, rank));
    for (const Interval& step : view.steps.windows) {
      const Split split = split_of(view, step);
      const std::vector<Exposure> exposures = exposures_of(view, step, split);
      Time blocking = 0;
      for (const Exposure& exposure : exposures) { blocking += exposure.blocking; }
      add_exposures(view, summary.rank, split, exposures, sums);
      add(summary.parts, split, blocking);
      add(result.parts, split, blocking);
      steps.emplace_back(us_of(step.length()));
    }
    divide(summary.parts, summary.steps);
    result.steps = std::max(result.steps, summary.steps);
    result.ranks.push_back(std::move(summary));
  }
  divide(result.parts, steps.size());
  result.step = rank_interval(steps);
  result.costs = costs_of(sums, steps.size());
  result.kinds = kinds_of(views, meetings);
  result.stragglers = stragglers_of(views, meetings, static_cast<double>(result.steps));
  result.inflation = inflation_over(views, static_cast<double>(steps.size()));
  result.what_if = what_if(views, result.step.median);
  result.kernels = kernels_over(views, static_cast<double>(steps.size()));
  return result;
}

}  // namespace elbowroom::explain
