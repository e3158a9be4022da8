#pragma once

#include <vector>

#include "explain/trace.hpp"

namespace elbowroom::explain {

struct Interval {
  Time begin = 0, end = 0;

  [[nodiscard]] Time length() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

/// Disjoint, ascending, none empty: what all functions below take and give, but `merged`, which makes them.
using Intervals = std::vector<Interval>;

/// The instants that any of these cover.
Intervals merged(Intervals any);
/// The instants of `a` that are none of `b`.
Intervals without(const Intervals& a, const Intervals& b);
/// The instants of both.
Intervals shared(const Intervals& a, const Intervals& b);
/// What lies within.
Intervals within(const Intervals& a, Interval bounds);

Time length(const Intervals& intervals);
/// length(within(a, bounds)), in the logarithm of the number of intervals and those inside.
Time length_within(const Intervals& a, Interval bounds);
/// What both last together.
Time overlap(Interval a, Interval b);

}  // namespace elbowroom::explain
