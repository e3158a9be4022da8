#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/time.hpp"
#include "elbowroom/trace/rank_interval.hpp"
#include "explain/exposures.hpp"
#include "explain/inflation.hpp"
#include "explain/split.hpp"
#include "explain/trace.hpp"
#include "explain/what_if.hpp"

/// What `elbowroom explain` says, as values: figures are means over the steps of all ranks, so that the parts add up to the step.
namespace elbowroom::explain {

/// Split, in microseconds.
struct Parts {
  double step = 0, compute = 0, communication = 0, exposed = 0, blocking = 0, copies = 0;
  double host_not_launched = 0, waiting_known = 0, waiting_unknown = 0;

  [[nodiscard]] double idle() const { return host_not_launched + waiting_known + waiting_unknown; }
  /// What is in no part; not zero only where this is wrong.
  [[nodiscard]] double rest() const { return step - compute - exposed - copies - idle(); }
};

/// The exposed time of one kind of collective for one cause.
struct Cost {
  std::string collective;
  std::optional<std::int64_t> bytes;
  Cause cause = Cause::unknown;
  double us = 0;          ///< a step
  std::size_t count = 0;  ///< in all steps of all ranks
  std::string evidence;   ///< of the longest
  std::string rank;       ///< of the longest
};

/// All collectives of one operation and size.
struct CollectiveKind {
  std::string op;
  std::optional<std::int64_t> bytes;
  std::vector<std::size_t> count;     ///< on each rank
  double us = 0;                      ///< the median duration over all
  std::optional<double> transfer_us;  ///< the median of the shortest participants; absent: seen on one rank
  std::optional<double> waiting_us;   ///< the median wait for the last participant
  std::optional<double> imbalance;    ///< the greatest, of uneven all-to-alls
};

struct Straggler {
  std::string rank;
  std::size_t last = 0;      ///< collectives to which it came last
  std::size_t of = 0;        ///< that it took part in with others
  double waited_us = 0;      ///< for it, by the others, in the median of those
  double waited_sum_us = 0;  ///< the sum over those, a step
};

struct RankSummary {
  std::string rank;
  std::string file;
  std::size_t steps = 0;
  std::size_t dropped = 0;
  std::string anchor;
  Parts parts;
  std::size_t collectives = 0;
  std::size_t matched = 0;  ///< found on another rank too
  std::vector<std::string> lost;
};

struct ClassInflation {
  std::string kernels;
  double us = 0;                ///< more, a step
  std::optional<double> ratio;  ///< of the time beside communication to the time alone
  std::size_t runs = 0;
  std::size_t unknown = 0;
};

/// All runs of the kernels of one name, however they were launched.
struct KernelTime {
  std::string name;
  double us = 0;  ///< a step
};

struct Explanation {
  std::string device;
  std::size_t steps = 0;
  RankInterval step;
  Parts parts;
  std::vector<RankSummary> ranks;
  std::vector<Cost> costs;            ///< the greatest first
  std::vector<CollectiveKind> kinds;  ///< those that last longest first
  std::vector<Straggler> stragglers;  ///< those that are waited for longest first
  std::vector<ClassInflation> inflation;
  std::vector<KernelTime> kernels;  ///< that compute; by name
  WhatIfs what_if;
};

/// Of one trace at least, in any order. Parts of one rank's trace are put together.
Explanation explain(std::vector<Trace> traces);

}  // namespace elbowroom::explain
