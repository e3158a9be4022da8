#include "explain/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "run/repeating_spans.hpp"

namespace elbowroom::explain {
namespace {

/// Kernels that compute, in the order of their begin.
using KernelRows = std::vector<std::uint32_t>;

/// Those of the stream that computes most often. Others run where there is room, so that they tell steps apart less sharply.
KernelRows main_kernels(const Trace& trace) {
  std::vector<KernelRows> by_stream(trace.streams.size());
  for (std::size_t row = 0; row < trace.rows.size(); ++row) {
    if (trace.rows.work[row] == Work::compute) { by_stream[trace.rows.stream[row]].push_back(static_cast<std::uint32_t>(row)); }
  }
  // Of equals the one that begins first: no name of a stream decides.
  const auto more = [](const KernelRows& a, const KernelRows& b) {
    return a.size() != b.size() ? a.size() < b.size() : !a.empty() && a.front() > b.front();
  };
  const auto most = std::max_element(by_stream.begin(), by_stream.end(), more);
  return most == by_stream.end() ? KernelRows() : std::move(*most);
}

Time last_end(const Trace& trace) { return *std::max_element(trace.rows.end.begin(), trace.rows.end.end()); }

/// The end of the last row that the host launched within `host`; `from` where there is none.
Time end_of_launched(const Trace& trace, Interval host, Time from) {
  Time end = from;
  for (std::size_t row = 0; row < trace.rows.size(); ++row) {
    const std::optional<Time> launched = trace.launched(row);
    if (launched && *launched >= host.begin && *launched < host.end) { end = std::max(end, trace.rows.end[row]); }
  }
  return end;
}

/// Half of the steps at least must have as many kernels as this one. Others are warm-up, or cut off by the profiler.
void keep_usual(Steps& steps, const std::vector<std::size_t>& kernels) {
  std::vector<std::size_t> sorted = kernels;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t usual = sorted[sorted.size() / 2];
  std::vector<Interval> kept;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool alike = kernels[i] * 10 >= usual * 9 && kernels[i] * 10 <= usual * 11;
    if (alike && kernels[i] > 0) { kept.push_back(steps.windows[i]); }
  }
  // A profiler's first step has its own work in it. Two steps are too few to leave one out.
  if (kept.size() >= 3) { kept.erase(kept.begin()); }
  steps.dropped = kernels.size() - kept.size();
  steps.windows = std::move(kept);
}

std::optional<Steps> by_marks(const Trace& trace, const KernelRows& kernels) {
  std::vector<Interval> marks;
  for (const Annotation& annotation : trace.annotations) {
    if (trace.texts.text(annotation.name).starts_with("ProfilerStep#")) { marks.push_back({annotation.begin, annotation.end}); }
  }
  if (marks.empty()) { return std::nullopt; }
  // The first kernel of each mark; launches of one stream are in the order of its kernels.
  std::vector<std::size_t> first;
  for (const Interval& mark : marks) {
    const auto from = kernels.begin() + static_cast<std::ptrdiff_t>(first.empty() ? 0 : first.back());
    const auto found = std::find_if(from, kernels.end(), [&](std::uint32_t row) {
      const std::optional<Time> launched = trace.launched(row);
      return launched && *launched >= mark.begin;
    });
    first.push_back(static_cast<std::size_t>(found - kernels.begin()));
  }
  Steps steps;
  steps.anchor = "ProfilerStep";
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (first[i] == kernels.size()) { continue; }
    const Time begin = trace.rows.begin[kernels[first[i]]];
    // Where the profiler paused behind a step, that step ends with its own work.
    const bool is_last =
        i + 1 == marks.size() || first[i + 1] == kernels.size() || marks[i + 1].begin - marks[i].end > marks[i].length();
    Time end = is_last ? end_of_launched(trace, marks[i], begin) : trace.rows.begin[kernels[first[i + 1]]];
    std::size_t count = is_last ? 0 : first[i + 1] - first[i];
    if (is_last) {
      while (first[i] + count < kernels.size() && trace.rows.begin[kernels[first[i] + count]] < end) { ++count; }
    }
    if (begin >= end) { continue; }
    steps.windows.push_back({begin, end});
    counts.push_back(count);
  }
  if (steps.windows.empty()) { return std::nullopt; }
  keep_usual(steps, counts);
  return steps.windows.empty() ? std::nullopt : std::optional(std::move(steps));
}

std::optional<Steps> by_repetition(const Trace& trace, const KernelRows& kernels) {
  std::vector<std::uint64_t> names;
  names.reserve(kernels.size());
  for (const std::uint32_t row : kernels) { names.push_back(trace.rows.name[row]); }
  // Steps hold most kernels of a recording; of a trace that is mostly start-up they may not.
  auto spans = run::repeating_spans(names, {.least_length = 2, .least_covered = (names.size() + 1) / 2});
  if (!spans) { spans = run::repeating_spans(names, {.least_length = 2}); }
  if (!spans) { return std::nullopt; }
  Steps steps;
  for (const std::size_t at : spans->begins) {
    const Interval window{trace.rows.begin[kernels[at]], trace.rows.begin[kernels[at + spans->length]]};
    if (window.begin < window.end) { steps.windows.push_back(window); }
  }
  if (steps.windows.size() < 2) { return std::nullopt; }
  steps.dropped = spans->begins.size() + spans->others - steps.windows.size();
  steps.anchor = fmt::format("a repeating sequence of {} kernels", spans->length);
  return steps;
}

}  // namespace

Steps find_steps(const Trace& trace) {
  const KernelRows kernels = main_kernels(trace);
  if (auto steps = by_marks(trace, kernels)) { return *std::move(steps); }
  if (auto steps = by_repetition(trace, kernels)) { return *std::move(steps); }
  Steps whole;
  whole.anchor = "the whole trace";
  whole.windows.push_back({trace.rows.begin.front(), std::max(last_end(trace), trace.rows.begin.front() + 1)});
  return whole;
}

}  // namespace elbowroom::explain
