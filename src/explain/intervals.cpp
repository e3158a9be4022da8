#include "explain/intervals.hpp"

#include <algorithm>

namespace elbowroom::explain {

Intervals merged(Intervals any) {
  std::sort(any.begin(), any.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Intervals result;
  for (const Interval& interval : any) {
    if (interval.begin >= interval.end) { continue; }
    if (!result.empty() && interval.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, interval.end);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

Intervals without(const Intervals& a, const Intervals& b) {
  Intervals result;
  auto cut = b.begin();
  for (Interval left : a) {
    while (cut != b.end() && cut->end <= left.begin) { ++cut; }
    for (auto next = cut; next != b.end() && next->begin < left.end; ++next) {
      if (left.begin < next->begin) { result.push_back({left.begin, next->begin}); }
      left.begin = std::min(next->end, left.end);
    }
    if (left.begin < left.end) { result.push_back(left); }
  }
  return result;
}

Intervals shared(const Intervals& a, const Intervals& b) {
  Intervals result;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    const Interval both{std::max(left->begin, right->begin), std::min(left->end, right->end)};
    if (both.begin < both.end) { result.push_back(both); }
    if (left->end < right->end) {
      ++left;
    } else {
      ++right;
    }
  }
  return result;
}

Intervals within(const Intervals& a, Interval bounds) {
  Intervals result;
  auto at = std::lower_bound(a.begin(), a.end(), bounds.begin, [](const Interval& one, Time time) { return one.end <= time; });
  for (; at != a.end() && at->begin < bounds.end; ++at) {
    result.push_back({std::max(at->begin, bounds.begin), std::min(at->end, bounds.end)});
  }
  return result;
}

Time length(const Intervals& intervals) {
  Time sum = 0;
  for (const Interval& interval : intervals) { sum += interval.length(); }
  return sum;
}

Time length_within(const Intervals& a, Interval bounds) { return length(within(a, bounds)); }

Time overlap(Interval a, Interval b) { return std::max<Time>(std::min(a.end, b.end) - std::max(a.begin, b.begin), 0); }

}  // namespace elbowroom::explain
