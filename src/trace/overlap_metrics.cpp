#include "elbowroom/trace/overlap_metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace elbowroom {
namespace {

struct Interval {
  Nanoseconds begin;
  Nanoseconds end;
};

using Intervals = std::vector<Interval>;

/// Disjoint intervals in ascending order that cover the same instants.
Intervals merged(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Intervals result;
  for (const Interval& interval : intervals) {
    if (!result.empty() && interval.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, interval.end);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

std::map<int, Intervals> busy_by_device(const Timeline& timeline, SpanKind kind) {
  std::map<int, Intervals> devices;
  for (const Span& span : timeline.spans) {
    if (span.kind == kind && span.begin < span.end) { devices[span.device].push_back({span.begin, span.end}); }
  }
  for (auto& [device, intervals] : devices) { intervals = merged(std::move(intervals)); }
  return devices;
}

Nanoseconds length(const Intervals& disjoint) {
  Nanoseconds sum{0};
  for (const Interval& interval : disjoint) { sum += interval.end - interval.begin; }
  return sum;
}

/// Both sides disjoint and ascending.
Nanoseconds shared_length(const Intervals& a, const Intervals& b) {
  Nanoseconds sum{0};
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    const Nanoseconds begin = std::max(left->begin, right->begin);
    const Nanoseconds end = std::min(left->end, right->end);
    if (begin < end) { sum += end - begin; }
    if (left->end < right->end) {
      ++left;
    } else {
      ++right;
    }
  }
  return sum;
}

/// Of `figure` over the recordings; of an even count the mean of the middle two.
template <class Figure>
std::optional<double> median_over(std::span<const Timeline> recordings, Figure figure) {
  std::vector<double> values;
  for (const Timeline& recording : recordings) {
    const std::optional<double> value = figure(recording);
    if (!value) { return std::nullopt; }
    values.push_back(*value);
  }
  if (values.empty()) { return std::nullopt; }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<double> mean_length(std::span<const Timeline> recordings, SpanKind kind) {
  return median_over(recordings, [kind](const Timeline& recording) -> std::optional<double> {
    const std::optional<Microseconds> mean = activity(recording, kind).mean();
    return mean ? std::optional(mean->count()) : std::nullopt;
  });
}

}  // namespace

std::optional<double> overlap_rate(std::span<const Timeline> recordings) {
  return median_over(recordings, [](const Timeline& recording) { return overlap_rate(recording); });
}

std::optional<double> overlap_rate(const Timeline& timeline) {
  const std::map<int, Intervals> compute = busy_by_device(timeline, SpanKind::compute);
  Nanoseconds communicating{0};
  Nanoseconds overlapped{0};
  for (const auto& [device, intervals] : busy_by_device(timeline, SpanKind::communication)) {
    communicating += length(intervals);
    if (const auto found = compute.find(device); found != compute.end()) { overlapped += shared_length(intervals, found->second); }
  }
  if (communicating == Nanoseconds(0)) { return std::nullopt; }
  return static_cast<double>(overlapped.count()) / static_cast<double>(communicating.count());
}

Activity activity(const Timeline& timeline, SpanKind kind) {
  Activity result;
  for (const Span& span : timeline.spans) {
    if (span.kind != kind) { continue; }
    ++result.spans;
    result.total += std::max(span.end - span.begin, Nanoseconds(0));
  }
  for (const auto& [device, intervals] : busy_by_device(timeline, kind)) { result.busy += length(intervals); }
  return result;
}

std::optional<double> inflation(Microseconds overlapped, Microseconds isolated) {
  if (!(isolated > Microseconds(0))) { return std::nullopt; }
  return overlapped / isolated - 1.0;
}

std::optional<double> inflation(const Timeline& overlapped, const Timeline& isolated, SpanKind kind) {
  const std::optional<Microseconds> with = activity(overlapped, kind).mean();
  const std::optional<Microseconds> alone = activity(isolated, kind).mean();
  if (!with || !alone) { return std::nullopt; }
  return inflation(*with, *alone);
}

std::optional<double> inflation(std::span<const Timeline> overlapped, std::span<const Timeline> isolated, SpanKind kind) {
  const std::optional<double> with = mean_length(overlapped, kind);
  const std::optional<double> alone = mean_length(isolated, kind);
  if (!with || !alone) { return std::nullopt; }
  return inflation(Microseconds(*with), Microseconds(*alone));
}

OverlapMetrics overlap_metrics(Microseconds time, Microseconds sequential, Microseconds critical_path) {
  OverlapMetrics metrics;
  if (sequential > Microseconds(0)) {
    metrics.time_ratio = time / sequential;
    metrics.reduction = 1.0 - *metrics.time_ratio;
  }
  if (sequential > critical_path) { metrics.overlap_efficiency = (sequential - time) / (sequential - critical_path); }
  return metrics;
}

}  // namespace elbowroom
