#include "elbowroom/report/run_report.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "report/comm_library.hpp"
#include "report/counts.hpp"

namespace elbowroom {
namespace {

using detail::add;

AppliedControls& operator+=(AppliedControls& sum, const AppliedControls& more) {
  sum.priority += more.priority;
  sum.gate += more.gate;
  sum.shape += more.shape;
  sum.sm_target += more.sm_target;
  return sum;
}

using MaybeTime = std::optional<Microseconds>;

/// A mean in which each part has a weight.
MaybeTime joined_mean(MaybeTime a, std::int64_t a_weight, MaybeTime b, std::int64_t b_weight) {
  if (!a || a_weight <= 0) { return b; }
  if (!b || b_weight <= 0) { return a; }
  const auto share = static_cast<double>(a_weight) / (static_cast<double>(a_weight) + static_cast<double>(b_weight));
  return *a * share + *b * (1 - share);
}

auto key_of(const CollectiveActivity& collective) { return std::tie(collective.name, collective.size_class); }

auto key_of(const KernelActivity& kernel) {
  const KernelFootprint& footprint = kernel.footprint;
  return std::tie(kernel.name, footprint.threads, footprint.registers_per_thread, footprint.static_shared, footprint.dynamic_shared,
                  footprint.cluster);
}

void merge(CollectiveActivity& sum, const CollectiveActivity& more) { sum.count += more.count; }

void merge(KernelActivity& sum, const KernelActivity& more) {
  sum.launches += more.launches;
  sum.in_window += more.in_window;
  sum.applied += more.applied;
  add(sum.refused, more.refused);
}

template <class Activity>
void join_equal_keys(std::vector<Activity>& activities) {
  std::ranges::stable_sort(activities, [](const Activity& a, const Activity& b) { return key_of(a) < key_of(b); });
  std::vector<Activity> joined;
  for (Activity& activity : activities) {
    if (!joined.empty() && key_of(joined.back()) == key_of(activity)) {
      merge(joined.back(), activity);
    } else {
      joined.push_back(std::move(activity));
    }
  }
  activities = std::move(joined);
}

void add(RunActivity& sum, const RunActivity& more) {
  const std::int64_t outside = sum.launches.total - sum.launches.at_rest - sum.launches.in_window;
  const std::int64_t more_outside = more.launches.total - more.launches.at_rest - more.launches.in_window;
  RunActivity::Overhead& overhead = sum.overhead;
  overhead.per_launch_outside = joined_mean(overhead.per_launch_outside, outside, more.overhead.per_launch_outside, more_outside);
  overhead.per_launch_inside =
      joined_mean(overhead.per_launch_inside, sum.launches.in_window, more.overhead.per_launch_inside, more.launches.in_window);
  overhead.time += more.overhead.time;
  overhead.calls += more.overhead.calls;

  sum.launches.total += more.launches.total;
  sum.launches.captured += more.launches.captured;
  sum.launches.graph_launches += more.launches.graph_launches;
  sum.launches.in_window += more.launches.in_window;
  sum.launches.in_order_only += more.launches.in_order_only;
  sum.launches.untracked += more.launches.untracked;
  sum.launches.collectives_forgotten += more.launches.collectives_forgotten;
  sum.launches.at_rest += more.launches.at_rest;
  sum.collectives.insert(sum.collectives.end(), more.collectives.begin(), more.collectives.end());
  sum.kernels.insert(sum.kernels.end(), more.kernels.begin(), more.kernels.end());
  sum.applied += more.applied;
  add(sum.refused, more.refused);
  add(sum.passed_through, more.passed_through);
  sum.relaunched += more.relaunched;
  add(sum.library, more.library);
}

}  // namespace

RunActivity total_activity(std::span<const ProcessReport> processes) {
  RunActivity total;
  for (const ProcessReport& process : processes) { add(total, process.activity); }
  join_equal_keys(total.collectives);
  join_equal_keys(total.kernels);
  std::ranges::stable_sort(total.kernels, std::ranges::greater(), &KernelActivity::in_window);
  return total;
}

}  // namespace elbowroom
